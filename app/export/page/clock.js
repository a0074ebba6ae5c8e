// The window's presentation clock: which round, which phase, how many tokens of it. Knows no DOM.
// A cursor is {round, phase, revealed}; phase "draft": tokens appear, "verify": verdicts fall,
// "done": the closing token is there. Round -1 is the prompt alone.

const START = Object.freeze({ round: -1, phase: "done", revealed: 0 });

class Clock {
  constructor() {
    this.speed = 1;
    this.stops = () => false; // asked of every cursor on the way: whether to hold there
    this.load([], {});
  }

  load(rounds, costs) {
    this.rounds = rounds;
    this.costs = costs;
    this.move(START);
  }

  get visibleRounds() {
    return this.cursor.round + (this.cursor.phase === "done" ? 1 : 0);
  }

  get atEnd() {
    return this.visibleRounds >= this.rounds.length;
  }

  // Lets presentation time pass; returns whether the picture changed. Nothing is passed over.
  advance(seconds) {
    const before = this.cursor;
    this.credit += seconds;
    while (!this.atEnd) {
      const following = this.following(this.cursor);
      const cost = this.cost(this.cursor, following);
      if (cost > this.credit) return this.cursor !== before;
      this.credit -= cost;
      this.cursor = following;
      if (this.stops(following)) break;
    }
    this.credit = 0;
    return this.cursor !== before;
  }

  // To the end of the round, or to what holds on the way.
  stepRound() {
    if (this.atEnd) return;
    let cursor = this.following(this.cursor);
    const goal = this.complete(cursor.round);
    while (!sameMoment(cursor, goal) && !this.stops(cursor)) cursor = this.following(cursor);
    this.move(cursor);
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

  seek(round, phase = "done") {
    this.move(this.momentOf(round, phase));
  }

  // The end of a phase of a round, as far as there is one.
  momentOf(round, phase) {
    const last = Math.min(round, this.rounds.length - 1);
    if (last < 0) return START;
    const whole = this.complete(last);
    return whole.revealed ? { ...whole, phase } : whole;
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

function sameMoment(one, other) {
  return one.round === other.round && one.phase === other.phase && one.revealed === other.revealed;
}

const PHASE_ORDER = ["draft", "verify", "done"];

// Negative if one comes before the other.
function compareMoments(one, other) {
  if (one.round !== other.round) return one.round - other.round;
  const phases = PHASE_ORDER.indexOf(one.phase) - PHASE_ORDER.indexOf(other.phase);
  return phases || one.revealed - other.revealed;
}
