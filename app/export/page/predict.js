// Predict, then reveal: a round stops before its verdicts, the audience says how many will be kept.

const LARGEST_ANSWER = 12; // of the buttons

class Predict {
  constructor(answered) {
    this.on = false;
    this.answered = answered;
  }

  load(data) {
    this.data = data;
    this.answers = new Map(); // by round
  }

  testable(round) {
    return this.data.rounds[round].d.filter((token) => token.f !== "cut").length;
  }

  kept(round) {
    return this.data.rounds[round].d.filter((token) => token.f === "accepted").length;
  }

  asks(cursor) {
    return this.on && cursor.phase === "draft" && !this.answers.has(cursor.round)
      && cursor.revealed === this.data.rounds[cursor.round].d.length && this.testable(cursor.round) > 0;
  }

  answer(round, guess) {
    if (guess > this.testable(round)) return;
    this.answers.set(round, guess);
    this.answered();
  }

  score() {
    const right = [...this.answers].filter(([round, guess]) => this.kept(round) === guess).length;
    return `${right} of ${this.answers.size} right`;
  }

  show(cursor) {
    const box = byId("predict-box");
    const asking = this.asks(cursor);
    const told = this.on && cursor.round >= 0 && this.answers.has(cursor.round);
    setShown(box, asking || told);
    if (!asking && !told) return;
    setShown(byId("predict-answers"), asking);
    const score = this.answers.size ? this.score() : "";
    const { round } = cursor;
    if (asking) {
      const many = this.testable(round);
      setText(byId("predict-words"), many === 1
        ? "Will the target keep this token?" : `How many of these ${many} will the target keep?`);
      this.showAnswers(round, many);
    } else {
      setText(byId("predict-words"), this.toldWords(cursor));
    }
    // The verdict is not given away by the score before it has fallen.
    setText(byId("predict-score"), asking || cursor.phase === "done" ? score : "");
  }

  toldWords({ round, phase }) {
    const guess = this.answers.get(round);
    if (phase !== "done") return `You said ${guess}. The target's pass decides.`;
    const kept = this.kept(round);
    return guess === kept
      ? `Right: ${this.data.rounds[round].w}.` : `You said ${guess}: ${this.data.rounds[round].w}.`;
  }

  showAnswers(round, many) {
    const list = byId("predict-answers");
    if (list.dataset.round === String(round) && list.childElementCount) return;
    list.dataset.round = round;
    list.replaceChildren(...Array.from({ length: Math.min(many, LARGEST_ANSWER) + 1 }, (_, guess) => {
      const button = make("button", "answer", String(guess));
      button.type = "button";
      button.setAttribute("aria-label", `${guess} of ${many}`);
      button.addEventListener("click", () => this.answer(round, guess));
      return button;
    }));
  }
}
