// The text, token by token. Knows chips and where they stand; does not know time.
// Chips of a round are made once, when the cursor first comes to it, and then only change class.

const UNKEPT = ["rejected", "discarded", "cut"];
const BLOCK_ROUNDS = 60;

class Strip {
  constructor(root, given, scroller) {
    this.root = root;
    this.given = given; // where the prompt's tokens stand
    this.scroller = scroller;
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    const sizes = new ResizeObserver(() => this.follow());
    sizes.observe(scroller);
    sizes.observe(root);
  }

  load(data) {
    this.data = data;
    this.records = []; // by round
    this.cursor = START;
    this.paragraphs = []; // elements, in order
    this.startOf = paragraphStarts(data.rounds);
    this.fresh = []; // chips whose verdict has just fallen
    this.following = true; // keep the newest line in view
    this.top = 0; // where that last scrolled to
    this.prompt = []; // chips, made when they are first asked for
    this.root.replaceChildren();
    this.given.replaceChildren();
  }

  showPrompt() {
    if (this.prompt.length) return;
    this.prompt = this.data.prompt.map((token, slot) => {
      const node = makeChip(token, -1, slot);
      setClass(node, `chip ${this.shape(token)} ${fateClass(this.data, "prompt")}`);
      node.setAttribute("aria-label", `${this.data.labels[token.n]}, prompt`);
      return node;
    });
    this.given.replaceChildren(...this.prompt);
  }

  follow() {
    if (!this.following) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.top = this.scroller.scrollTop;
  }

  // A viewer who scrolls up stays there until they come back to the newest line.
  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    const atBottom = scrollTop + clientHeight >= scrollHeight - 8;
    this.following = atBottom || (this.following && scrollTop >= this.top - 8);
  }

  // Shows everything up to the cursor; touches only what lies between the last one and this.
  show(cursor, falling) {
    for (const chip of this.fresh) chip.classList.remove("falling");
    this.fresh = [];
    const last = this.cursor;
    for (let r = last.round; r > cursor.round; r -= 1) this.remove(r);
    for (let r = Math.max(0, Math.min(last.round, cursor.round)); r <= cursor.round; r += 1) {
      this.apply(r, r < cursor.round ? null : cursor, falling);
    }
    this.trim(cursor.round);
    this.cursor = cursor;
    this.follow();
  }

  chip(round, slot) {
    if (round < 0) return this.prompt[slot] ?? null;
    const record = this.records[round];
    if (!record) return null;
    const one = slot < 0 ? record.closing : record.drafted[slot];
    return one && one.state ? one.node : null;
  }

  apply(r, cursor, falling) {
    const record = this.record(r);
    const done = cursor === null || cursor.phase === "done";
    if (!record.placed) {
      this.paragraph(this.startOf[r]).append(record.tick);
      record.placed = true;
    }
    record.drafted.forEach((one, slot) => {
      this.set(one, shownFate(one.token, slot, cursor), done, falling);
    });
    if (record.closing) this.set(record.closing, done ? record.closing.token.f : "", done, falling);
  }

  set(one, fate, done, falling) {
    const state = fate && done && UNKEPT.includes(fate) ? `${fate} settled` : fate;
    if (state === one.state) return;
    const settles = state === `${one.state} settled`; // the verdict itself fell earlier
    if (!fate) one.node.remove();
    else {
      setClass(one.node, `chip ${this.shape(one.token)} ${fateClass(this.data, fate)} ${state}`);
      one.node.setAttribute("aria-label", `${this.data.labels[one.token.n]}, ${fate}`);
      if (!one.state) this.paragraph(one.paragraph).append(one.node);
      if (falling && !settles) {
        one.node.classList.add("falling");
        this.fresh.push(one.node);
      }
    }
    one.state = state;
  }

  shape(token) {
    const shared = { before: "shared-before", after: "shared-after", both: "shared-both" };
    return token.s ? shared[token.s] : "whole";
  }

  remove(r) {
    const record = this.records[r];
    if (!record || !record.placed) return;
    record.tick.remove();
    record.placed = false;
    for (const one of [...record.drafted, record.closing]) {
      if (one && one.state) {
        one.node.remove();
        one.state = "";
      }
    }
  }

  trim(round) {
    const kept = round < 0 ? 0 : this.startOf[round + 1] + 1;
    while (this.paragraphs.length > kept) this.paragraphs.pop().remove();
  }

  paragraph(index) {
    while (this.paragraphs.length <= index) {
      const paragraph = make("div", "paragraph");
      this.root.append(paragraph);
      this.paragraphs.push(paragraph);
    }
    return this.paragraphs[index];
  }

  record(r) {
    if (this.records[r]) return this.records[r];
    const round = this.data.rounds[r];
    let paragraph = this.startOf[r];
    const one = (token, slot) => {
      const entry = { token, paragraph, state: "", node: makeChip(token, r, slot) };
      if (endsLine(token)) paragraph += 1;
      return entry;
    };
    const tick = make("span", "tick");
    tick.setAttribute("aria-hidden", "true");
    const drafted = round.d.map(one);
    const closing = round.c ? one(round.c, -1) : null;
    return (this.records[r] = { tick, drafted, closing, placed: false });
  }
}

// The paragraph in which each round begins, and one entry more. A line of text that goes on for very
// many rounds is laid out in blocks, so that a new token moves a few hundred others and not all.
function paragraphStarts(rounds) {
  const starts = [];
  let paragraph = 0;
  let length = 0; // rounds since the last break
  for (const round of rounds) {
    const tokens = [...round.d, round.c].filter((token) => token && !UNKEPT.includes(token.f));
    const between = length >= BLOCK_ROUNDS && tokens[0]?.t.startsWith(" ");
    if (between || length >= 2 * BLOCK_ROUNDS) [paragraph, length] = [paragraph + 1, 0];
    starts.push(paragraph);
    const breaks = tokens.filter(endsLine).length;
    paragraph += breaks;
    length = breaks ? 0 : length + 1;
  }
  return [...starts, paragraph];
}

function shownFate(token, slot, cursor) {
  if (cursor === null || cursor.phase === "done") return token.f;
  if (cursor.phase === "verify") return slot < cursor.revealed ? token.f : "pending";
  return slot < cursor.revealed ? "pending" : "";
}

// Only tokens that are part of the text begin a new line.
function endsLine(token) {
  return !UNKEPT.includes(token.f) && token.t.endsWith("\n");
}

// A <bdi>: the direction of one token never reaches its neighbours. White space around a word is part
// of the token but carries no mark, so that a box never hangs at the end of a line.
function makeChip(token, round, slot) {
  const chip = make("bdi", "chip");
  chip.dataset.round = round;
  chip.dataset.slot = slot;
  chip.tabIndex = -1;
  chip.setAttribute("role", "button");
  const kept = !UNKEPT.includes(token.f);
  const [, lead, head, breaks] = /^( *)([^]*?)(\n*)$/.exec(token.t);
  const blank = !head.trim() && !breaks && !token.h && !token.x;
  const ink = make("span", blank ? "ink blank" : "ink");
  if (head || breaks) chip.append(lead);
  else ink.append(lead);
  head.split("\n").forEach((line, i) => {
    if (i) ink.append(make("span", "newline"), kept ? "\n" : "");
    if (line) ink.append(line);
  });
  for (let i = 0; i < breaks.length; i += 1) ink.append(make("span", "newline"));
  if (token.h) ink.append(make("span", "bytes", token.h));
  if (token.x) ink.append(make("span", token.e ? "beyond first" : "beyond", token.x));
  chip.append(ink);
  if (kept && breaks) chip.append(breaks);
  return chip;
}
