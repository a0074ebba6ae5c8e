// Marked moments: ticks on the scrubber, a list to go to them, and what is said there.

class Markers {
  constructor(ticks, list, go) {
    this.ticks = ticks;
    this.list = list;
    this.go = go;
    this.items = [];
  }

  // `clock` has the run's rounds already.
  load(data, clock) {
    this.note = data.header.note;
    this.items = data.markers.map((marker) => {
      const moment = clock.momentOf(marker.round, marker.phase);
      return { ...marker, moment, ref: markedToken(data, marker) };
    });
    const total = Math.max(1, data.rounds.length);
    this.ticks.replaceChildren(...this.items.map((item) => this.makeTick(item, total)));
    this.list.replaceChildren(...this.items.map((item) => this.makeEntry(item)));
  }

  makeTick(item, total) {
    const tick = make("span", item.pause ? "mark pausing" : "mark");
    const part = { draft: 1 / 3, verify: 2 / 3, done: 1 }[item.moment.phase];
    tick.style.left = `${(100 * (item.moment.round + part)) / total}%`;
    tick.title = `${item.title} (${item.where})`;
    tick.addEventListener("click", () => this.go(item));
    return tick;
  }

  makeEntry(item) {
    const entry = make("li");
    const button = make("button", "entry-button");
    button.type = "button";
    button.append(make("strong", "", item.title), make("span", "where", item.where));
    button.addEventListener("click", () => this.go(item));
    entry.append(button);
    if (item.note) entry.append(make("p", "note", item.note));
    return entry;
  }

  at(cursor) {
    return this.items.filter((item) => sameMoment(item.moment, cursor));
  }

  holds(cursor) {
    return this.items.some((item) => item.pause && sameMoment(item.moment, cursor));
  }

  named(id) {
    return this.items.find((item) => item.id === id) ?? null;
  }

  // `items`: of these only, in order
  beside(cursor, forward, items = this.items) {
    const far = items.filter((item) => {
      const order = compareMoments(item.moment, cursor);
      return forward ? order > 0 : order < 0;
    });
    return (forward ? far[0] : far.at(-1)) ?? null;
  }

  // Where playing comes to hold next, or came to hold before.
  holdBeside(cursor, forward) {
    return this.beside(cursor, forward, this.items.filter((item) => item.pause));
  }

  // What is said at a moment: [title, note], or null.
  words(cursor) {
    const found = this.at(cursor);
    if (found.length) {
      const notes = found.map((item, i) => (i ? [item.title, item.note].filter(Boolean).join(": ") : item.note));
      return [found[0].title, notes.filter(Boolean).join("\n")];
    }
    return cursor.round < 0 && this.note ? ["", this.note] : null;
  }
}

// A marker's token for the court, if the run has it.
function markedToken(data, marker) {
  if (marker.slot === undefined) return null;
  const ref = { round: marker.round, slot: marker.slot };
  return tokenAt(data, ref) ? ref : null;
}
