// The court: the verdict on one token, with both laws, the threshold, the u and the residual.
// Its rows are made once and filled again for each token.

const COURT_ROWS = 7; // the page keeps 6, and the mass outside them
const RESIDUAL_ROWS = 4;
const RULES = {
  greedy: "Greedy: drafted tokens are kept while each is the target's own first choice. The first that "
    + "is not is rejected, and the target's choice takes its place;",
  drawn: "Each drafted token is kept while u < min(1, p_target / q_draft). The first that is not is "
    + "rejected, and a correction is drawn from the residual in its place;",
  both: "if all are kept, the same pass gives a bonus. "
    + "Press space to play; click a token to pin its verdict here.",
};

class Court {
  constructor() {
    this.raw = false; // the target's law before temperature and cuts, instead of the one that decides
    this.rows = times(COURT_ROWS, () => makeRow(byId("rows"), ["draft", "target"]));
    this.residual = times(RESIDUAL_ROWS, () => makeRow(byId("residual"), ["residual"]));
  }

  load(data) {
    this.data = data;
    this.show(null, "");
  }

  // `ref` is {round, slot}; `state` the fate that is shown, "pending" before the verdict.
  show(ref, state) {
    const court = byId("court");
    const token = ref ? tokenAt(this.data, ref) : null;
    court.classList.toggle("empty", !token);
    if (!token) {
      const rule = this.data.rounds[0]?.greedy ? RULES.greedy : RULES.drawn;
      setText(byId("court-words"), `${rule} ${RULES.both}`);
      return;
    }
    if (ref.round < 0) {
      this.showGiven(ref, token);
      return;
    }
    const round = this.data.rounds[ref.round];
    const pending = state === "pending";
    const laws = lawsOf(round, token);
    setText(byId("court-token"), this.data.labels[token.n]);
    setClass(byId("court-token"), `ink ${fateClass(this.data, state)}`);
    setText(byId("court-fate"), `${this.data.fates[state].label}, round ${ref.round + 1}`);
    setClass(byId("court-fate"), `fate-${state}`);
    setText(byId("court-words"), pending ? pendingWords(token) : token.w);
    setText(byId("court-note"), pending ? token.o ?? "" : this.noteWords(round, token, laws));
    this.showLaws(token, laws, pending);
    this.showLine(token, pending);
    this.showResidual(round, token, laws, pending);
  }

  // A token of the prompt: nothing is judged.
  showGiven(ref, token) {
    setText(byId("court-token"), this.data.labels[token.n]);
    setClass(byId("court-token"), `ink ${fateClass(this.data, "prompt")}`);
    setText(byId("court-fate"), `${this.data.fates.prompt.label}, token ${ref.slot + 1}`);
    setClass(byId("court-fate"), "fate-prompt");
    setText(byId("court-words"), token.w);
    setText(byId("court-note"), "");
    byId("court").classList.add("no-laws");
    setShown(byId("line-box"), false);
    setShown(byId("residual-box"), false);
  }

  noteWords(round, token, laws) {
    const { raw, one_hot: oneHot, unobserved } = this.data.notes;
    const parts = [];
    if (token.o) parts.push(token.o);
    const oneHots = round.greedy && token.o; // both laws are: their overlap is 0 or 1
    if (laws && laws.overlap !== undefined && token.q !== undefined && !oneHots) {
      parts.push(`Overlap of both laws, sum of min(p_target, q_draft): ${probability(laws.overlap)}.`);
    }
    if (!laws) parts.push(unobserved);
    else if (this.raw) parts.push(raw);
    else if (round.greedy) parts.push(oneHot);
    return parts.join(" ");
  }

  showLaws(token, laws, pending) {
    const target = laws ? (this.raw ? laws.raw : laws.p) : [];
    const rest = laws?.rest?.[this.raw ? 1 : 0];
    const drafted = laws && laws.q ? laws.q : [];
    setText(byId("key-target"), this.raw ? "p_raw" : "p_target");
    setShown(byId("entry-target"), !pending);
    setShown(byId("entry-draft"), drafted.length > 0);
    const length = laws ? laws.rows.length : 0;
    this.rows.forEach((row, i) => {
      const used = i < length || (i === length && length > 0);
      setShown(row.item, used);
      if (!used) return;
      const left = i === length;
      const own = !left && laws.ids[i] === token.id;
      setText(row.name, left ? "other tokens" : this.data.labels[laws.rows[i]]);
      setClass(row.item, `row${own ? " own" : ""}${left ? " left-out" : ""}`);
      fillBar(row.bars[0], drafted.length ? (left ? laws.rest?.[2] ?? 0 : drafted[i]) : null);
      fillBar(row.bars[1], pending ? null : left ? rest ?? 0 : target[i]);
    });
    byId("court").classList.toggle("no-laws", !laws);
  }

  showLine(token, pending) {
    const tested = !pending && token.a !== undefined && ["accepted", "rejected"].includes(token.f);
    const drawn = !pending && token.u !== undefined;
    setShown(byId("line-box"), tested || drawn);
    if (!tested && !drawn) return;
    const title = tested
      ? "kept while u < min(1, p_target / q_draft)"
      : "the u that this token was drawn with";
    setText(byId("line-title"), title);
    setShown(byId("zone"), tested);
    setShown(byId("threshold"), tested);
    if (tested) {
      byId("zone").style.width = percentage(token.a);
      place(byId("threshold"), byId("threshold-text"), token.a, `threshold ${probability(token.a)}`);
    }
    setShown(byId("needle"), drawn);
    if (drawn) place(byId("needle"), byId("needle-text"), token.u, `u ${probability(token.u)}`);
    setClass(byId("line"), `line ${tested ? `fate-${token.f}` : "fate-plain"}`);
    const spoken = tested ? `Threshold ${probability(token.a)}. ` : "";
    byId("line").setAttribute("aria-label", spoken + (drawn ? `u ${probability(token.u)}` : "no u"));
  }

  showResidual(round, token, laws, pending) {
    const shown = !pending && laws && laws.r && ["rejected", "correction"].includes(token.f);
    setShown(byId("residual-box"), Boolean(shown));
    if (!shown) return;
    const order = laws.r.map((_, i) => i).filter((i) => laws.r[i] > 0);
    order.sort((i, j) => laws.r[j] - laws.r[i]);
    const drawn = round.c ? order.findIndex((i) => laws.ids[i] === round.c.id) : -1;
    if (drawn >= RESIDUAL_ROWS - 1) order.splice(RESIDUAL_ROWS - 2, 0, ...order.splice(drawn, 1));
    const kept = order.slice(0, RESIDUAL_ROWS - 1);
    const rest = 1 - kept.reduce((sum, i) => sum + laws.r[i], 0);
    this.residual.forEach((row, place) => {
      const left = place === kept.length && rest > 5e-6;
      setShown(row.item, place < kept.length || left);
      if (row.item.hidden) return;
      const i = kept[place];
      const isDrawn = !left && round.c && laws.ids[i] === round.c.id;
      setText(row.name, left ? "other tokens" : this.data.labels[laws.rows[i]]);
      setClass(row.item, `row${isDrawn ? " drawn" : ""}${left ? " left-out" : ""}`);
      fillBar(row.bars[0], left ? rest : laws.r[i]);
    });
  }
}

function tokenAt(data, { round, slot }) {
  if (round < 0) return data.prompt[slot] ?? null;
  const one = data.rounds[round];
  return one ? (slot < 0 ? one.c : one.d[slot]) ?? null : null;
}

// A correction was drawn at the rejected token's position.
function lawsOf(round, token) {
  if (token.laws || token.f !== "correction") return token.laws ?? null;
  return round.d.find((one) => one.f === "rejected")?.laws ?? null;
}

function pendingWords(token) {
  return `Proposed by the drafter, which gave it q_draft = ${probability(token.q)}. `
    + "The target's pass will decide.";
}

function times(count, one) {
  return Array.from({ length: count }, one);
}

function makeRow(list, kinds) {
  const item = make("li", "row");
  const name = make("bdi", "name");
  const box = make("div", "bars-of");
  const bars = kinds.map((kind) => {
    const line = make("div", `bar bar-${kind}`);
    const fill = make("div", "fill");
    const value = make("span", "value");
    line.append(fill, value);
    box.append(line);
    return { line, fill, value };
  });
  item.append(name, box);
  list.append(item);
  return { item, name, bars };
}

function fillBar(bar, value) {
  setShown(bar.line, value !== null);
  if (value === null) return;
  bar.fill.style.setProperty("--share", Math.min(1, value));
  setText(bar.value, probability(value));
}

function percentage(value) {
  return `${100 * Math.min(1, Math.max(0, value))}%`;
}

function place(mark, text, value, words) {
  mark.style.left = percentage(value);
  mark.classList.toggle("from-right", value > 0.5);
  setText(text, words);
}
