// The race: lanes on one clock of engine time. Times, texts and rates come with the page; what is
// chosen here is only how fast the clock runs.

const PACES = [2, 1, 1 / 2, 1 / 5, 1 / 10, 1 / 20, 1 / 50, 1 / 100];
const SHORTEST_S = 8; // a race is slowed until it is long enough to be followed
const SHOWN_TEXT = 2400; // characters of a lane that are kept on the page

class RaceView {
  constructor() {
    this.races = [];
    this.lanes = [];
    this.playing = false;
    this.us = 0;
    byId("race-which").addEventListener("change", () => this.choose(Number(byId("race-which").value)));
  }

  load(races) {
    this.races = races;
    byId("race-which").replaceChildren(...races.map((race, i) => {
      const option = make("option", "", race.title);
      option.value = i;
      return option;
    }));
    setShown(byId("race-which"), races.length > 1);
    if (races.length) this.choose(0);
  }

  choose(index) {
    this.race = this.races[index];
    byId("race-which").value = index;
    setText(byId("race-title"), this.race.title);
    setShown(byId("race-title"), this.races.length < 2);
    setText(byId("race-clock"), this.race.clock);
    setText(byId("race-outcome"), this.race.outcome);
    this.lanes = this.race.lanes.map((lane) => makeLane(lane));
    byId("lanes").replaceChildren(...this.lanes.map((lane) => lane.item));
    this.end = Math.max(...this.race.lanes.map((lane) => lane.us.at(-1) ?? 0));
    const fit = PACES.findIndex((pace) => this.end / 1e6 / pace >= SHORTEST_S);
    this.setPace(Math.max(1, fit < 0 ? PACES.length - 1 : fit));
    this.restart();
  }

  setPace(index) {
    this.pace = Math.min(PACES.length - 1, Math.max(0, index));
    const pace = PACES[this.pace];
    const slow = `1/${Math.round(1 / pace)} of real time`;
    setText(byId("race-pace"), pace === 1 ? "real time" : pace > 1 ? `${pace}× real time` : slow);
  }

  restart() {
    this.us = 0;
    for (const lane of this.lanes) lane.restart();
    this.show();
  }

  setPlaying(playing) {
    if (playing && this.us >= this.end) this.restart();
    this.playing = playing;
    byId("race-play").setAttribute("aria-label", playing ? "Pause the race" : "Start the race");
    setClass(byId("race-play").firstElementChild, `icon ${playing ? "icon-pause" : "icon-play"}`);
    if (!playing) return;
    this.before = performance.now();
    requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    if (!this.playing) return;
    const seconds = Math.min(0.25, Math.max(0, now - this.before) / 1000);
    this.before = now;
    this.us = Math.min(this.end, this.us + seconds * 1e6 * PACES[this.pace]);
    this.show();
    if (this.us >= this.end) this.setPlaying(false);
    else requestAnimationFrame((later) => this.frame(later));
  }

  show() {
    for (const lane of this.lanes) lane.show(this.us);
    const over = this.end > 0 && this.us >= this.end;
    setText(byId("race-time"), `${(this.us / 1e6).toFixed(this.end < 1e7 ? 3 : 1)} s`);
    const best = Math.max(...this.race.lanes.map((lane) => lane.rate ?? 0));
    this.lanes.forEach((lane, i) => {
      lane.item.classList.toggle("won", over && this.lanes.length > 1 && this.race.lanes[i].rate === best);
    });
    byId("race").classList.toggle("over", over);
  }
}

function makeLane(lane) {
  const item = make("li", `lane lane-${lane.kind}`);
  const head = make("div", "lane-head");
  const name = make("h3", "", lane.name);
  name.append(make("span", "lane-detail", [lane.detail, ...(lane.notes ?? [])].filter(Boolean).join("; ")));
  const rate = make("strong", "", DASH);
  const side = make("p", "lane-rate");
  side.append(rate, make("span", "unit", "tokens/s"));
  const count = make("p", "lane-count");
  head.append(name, side, count);
  const text = make("p", "lane-text");
  text.dir = "auto";
  const old = document.createTextNode("");
  const fresh = make("span", "fresh");
  text.append(old, fresh);
  const bar = make("div", "lane-bar");
  const done = make("div", "lane-done");
  bar.append(done);
  item.append(head, text, bar);
  return new LaneView(lane, { item, rate, count, text, old, fresh, done });
}

class LaneView {
  constructor(lane, parts) {
    Object.assign(this, parts);
    this.lane = lane;
    this.arrived = 0;
  }

  restart() {
    this.arrived = 0;
    this.old.data = "";
    setText(this.fresh, "");
    setText(this.rate, DASH);
    this.showCount();
  }

  // Shows what had arrived by then; the newest arrival stands out.
  show(us) {
    const { lane } = this;
    const first = this.arrived;
    while (this.arrived < lane.us.length && lane.us[this.arrived] <= us) this.arrived += 1;
    if (this.arrived === first) return;
    const last = this.arrived - 1;
    if (lane.texts.length) {
      const before = this.old.data + this.fresh.textContent + lane.texts.slice(first, last).join("");
      this.old.data = before.length > SHOWN_TEXT ? `…${before.slice(-SHOWN_TEXT)}` : before;
      setText(this.fresh, lane.texts[last]);
    } else if (this.arrived === lane.us.length) this.old.data = lane.whole ?? "";
    setText(this.rate, lane.rates[last]);
    this.text.scrollTop = this.text.scrollHeight;
    this.showCount();
  }

  showCount() {
    const { lane, arrived } = this;
    const tokens = arrived ? lane.tokens[arrived - 1] : 0;
    const total = lane.tokens.at(-1) ?? 0;
    const over = arrived && arrived === lane.us.length;
    const took = over ? ` in ${(lane.us.at(-1) / 1e6).toFixed(2)} s` : "";
    setText(this.count, `${tokens} of ${total} tokens${took}`);
    this.done.style.setProperty("--share", total ? tokens / total : 0);
    this.item.classList.toggle("finished", Boolean(over));
    this.item.classList.toggle("silent", !lane.texts.length && !over);
  }
}
