// The numbers of the token under the pointer or in focus. One element, filled again each time.

class Tip {
  constructor() {
    this.element = byId("tip");
  }

  load(data) {
    this.data = data;
    this.hide();
  }

  show(chip, ref, state) {
    const token = tokenAt(this.data, ref);
    const pending = state === "pending";
    const head = make("p", "tip-head");
    head.append(make("span", `ink ${fateClass(this.data, state)}`, this.data.labels[token.n]));
    head.append(make("span", `tip-fate fate-${state}`, this.data.fates[state].label));
    const list = make("dl");
    for (const [name, value] of tipNumbers(token, pending)) {
      const line = make("div");
      line.append(make("dt", "", name), make("dd", "", value));
      list.append(line);
    }
    const words = make("p", "tip-words", pending ? "Waiting for the target's pass." : token.w);
    this.element.replaceChildren(head, list, words);
    const shared = sharedWords(token);
    if (shared) this.element.append(make("p", "tip-words", shared));
    this.element.hidden = false;
    this.place(chip);
    if (this.chip && this.chip !== chip) this.chip.removeAttribute("aria-describedby");
    this.chip = chip;
    chip.setAttribute("aria-describedby", "tip");
  }

  hide() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.chip?.removeAttribute("aria-describedby");
    this.chip = null;
  }

  // Above the token if there is room, else below; always inside the page.
  place(chip) {
    const at = chip.getClientRects()[0];
    if (!at) return;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = Math.min(Math.max(8, at.left), innerWidth - width - 8);
    const above = at.top - height - 8;
    this.element.style.left = `${Math.max(8, left)}px`;
    this.element.style.top = `${above >= 8 ? above : Math.min(at.bottom + 8, innerHeight - height - 8)}px`;
  }
}

function tipNumbers(token, pending) {
  if (token.f === "prompt") return [["token id", String(token.id)]];
  const closing = token.q === undefined;
  const lines = [];
  if (!closing) lines.push(["q_draft", probability(token.q)]);
  if (!pending) {
    if (!closing || token.f !== "correction") lines.push(["p_target", probability(token.p)]);
    else lines.push(["residual", probability(token.p)]);
    if (token.a !== undefined) lines.push(["min(1, p_target / q_draft)", probability(token.a)]);
    if (token.u !== undefined) lines.push(["u", probability(token.u)]);
  }
  lines.push(["token id", String(token.id)]);
  return lines;
}

function sharedWords(token) {
  const side = { before: "the token before", after: "the token after", both: "the tokens around" };
  return token.s ? `Shares a character with ${side[token.s]} it.` : "";
}
