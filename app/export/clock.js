// The window's presentation clock: which round, which phase, how many tokens of it. Knows no DOM.
// A cursor is {round, phase, revealed}; phase "draft": tokens appear, "verify": verdicts fall,
// "done": the closing token is there. Round -1 is the prompt alone.

const START = Object.freeze({ round: -1, phase: "done", revealed: 0 });

class Clock {
  constructor(rounds, costs) {
    this.rounds = rounds;
    this.costs = costs;
    this.cursor = START;
    this.speed = 1;
    this.credit = 0;
  }

  get visibleRounds() {
    return this.cursor.round + (this.cursor.phase === "done" ? 1 : 0);
  }

  get atEnd() {
    return this.visibleRounds >= this.rounds.length;
  }

  // Lets presentation time pass; returns whether the picture changed.
  advance(seconds) {
    const before = this.cursor;
    this.credit += seconds;
    while (!this.atEnd) {
      const following = this.following(this.cursor);
      const cost = this.cost(this.cursor, following);
      if (cost > this.credit) return this.cursor !== before;
      this.credit -= cost;
      this.cursor = following;
    }
    this.credit = 0;
    return this.cursor !== before;
  }

  stepRound() {
    if (!this.atEnd) this.move(this.complete(this.following(this.cursor).round));
  }

  stepPhase() {
    if (this.atEnd) return;
    const { round, phase } = this.following(this.cursor);
    this.move({ round, phase, revealed: this.rounds[round].d.length });
  }

  stepRoundBack() {
    this.seek(this.cursor.round - 1);
  }

  // To the end of the phase before, or to the beginning of this one if it is half shown.
  stepPhaseBack() {
    const { round, phase } = this.cursor;
    if (round < 0) return;
    const drafted = this.rounds[round].d.length;
    if (phase === "done" && drafted) this.move({ round, phase: "verify", revealed: drafted });
    else if (phase === "verify") this.move({ round, phase: "draft", revealed: drafted });
    else this.seek(round - 1);
  }

  seek(round) {
    const last = Math.min(round, this.rounds.length - 1);
    this.move(last < 0 ? START : this.complete(last));
  }

  move(cursor) {
    this.credit = 0;
    this.cursor = cursor;
  }

  complete(round) {
    return { round, phase: "done", revealed: this.rounds[round].d.length };
  }

  // The smallest step forward.
  following({ round, phase, revealed }) {
    if (phase === "done") [round, phase, revealed] = [round + 1, "draft", 0];
    const drafted = this.rounds[round].d;
    if (phase === "draft" && revealed < drafted.length) {
      return { round, phase, revealed: revealed + 1 };
    }
    if (phase === "draft") [phase, revealed] = ["verify", 0];
    if (revealed < drafted.length) {
      return { round, phase, revealed: this.afterVerdict(drafted, revealed) };
    }
    return { round, phase: "done", revealed: drafted.length };
  }

  // Untested tokens follow the verdict before them at once.
  afterVerdict(drafted, revealed) {
    let shown = revealed + 1;
    while (shown < drafted.length && ["discarded", "cut"].includes(drafted[shown].f)) shown += 1;
    return shown;
  }

  cost(cursor, following) {
    const { pending, verdict, closing, rest } = this.costs;
    const pause = cursor.phase === "done" && cursor.round >= 0 ? rest : 0;
    return (pause + { draft: pending, verify: verdict, done: closing }[following.phase]) / this.speed;
  }
}
