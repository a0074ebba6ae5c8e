// Plays a run: one clock, and everything that is shown at its cursor. Owns what is pinned.

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];

const clock = new Clock();
const strip = new Strip(byId("text"), byId("given"), byId("strip"));
const arrow = new Arrow(byId("strip"), strip);
const court = new Court();
const tip = new Tip();
const cards = new FigureCards(byId("figures"));
const overview = new Overview(byId("overview"));
const markers = new Markers(byId("ticks"), byId("marker-list"), (item) => goToMarker(item));
const predict = new Predict(() => goOn());
const race = new RaceView();
const state = {
  data: null, playing: false, pinned: null, speed: 2, before: 0, settings: -1, mark: null, scrubbed: null,
  until: null, // round at whose end playing stops
  resumes: false, // whether it was playing when it came to hold
};

function loadRun(data) {
  Object.assign(state, { data, pinned: null, settings: -1, mark: null });
  clock.load(data.rounds, data.clock);
  for (const part of [strip, court, tip, cards, overview, predict]) part.load(data);
  markers.load(data, clock);
  race.load([data.runs_race, data.race].filter(Boolean));
  byId("scrub").max = data.rounds.length;
  fillHeader(data);
  fillAbout(data);
  fillPrompt(data, strip);
  setShown(byId("markers"), markers.items.length > 0);
  setText(byId("markers-count"), String(markers.items.length));
  setShown(byId("race-toggle"), race.races.length > 0);
  show();
}

// ---- showing -------------------------------------------------------------------------------

function fateShown(ref) {
  const token = tokenAt(state.data, ref);
  const { cursor } = clock;
  if (!token || ref.round > cursor.round) return "";
  if (ref.round < 0) return token.f;
  if (ref.slot < 0) return ref.round < cursor.round || cursor.phase === "done" ? token.f : "";
  return shownFate(token, ref.slot, ref.round < cursor.round ? null : cursor);
}

// The token that the last beat was about.
function newest() {
  const { round, phase, revealed } = clock.cursor;
  if (round < 0) return null;
  const one = state.data.rounds[round];
  if (phase === "done") return { round, slot: one.c ? -1 : one.d.length - 1 };
  if (phase === "draft") return { round, slot: revealed - 1 };
  let slot = Math.max(0, revealed - 1);
  while (slot > 0 && ["discarded", "cut"].includes(one.d[slot].f)) slot -= 1;
  return { round, slot };
}

// What the viewer pinned, else what a marker here is about.
function pinnedRef() {
  if (state.pinned && fateShown(state.pinned)) return state.pinned;
  const marked = markers.at(clock.cursor).find((item) => item.ref)?.ref;
  return marked && fateShown(marked) ? marked : null;
}

function show(falling = false) {
  strip.show(clock.cursor, falling);
  document.body.classList.toggle("start", clock.cursor.round < 0 && !clock.atEnd);
  showCourt();
  cards.show(clock.visibleRounds);
  showStatus();
  showCaption();
  predict.show(clock.cursor);
  byId("text").classList.toggle("ended", clock.atEnd);
  setShown(byId("ending"), clock.atEnd && Boolean(state.data.ending));
  if (tip.chip && !tip.chip.isConnected) tip.hide();
  speak();
}

function showCourt() {
  const pinned = pinnedRef();
  const ref = pinned ?? newest();
  const chip = pinned ? strip.chip(pinned.round, pinned.slot) : null;
  if (state.mark !== chip) {
    state.mark?.classList.remove("pinned");
    state.mark?.removeAttribute("aria-pressed");
    state.mark = chip;
  }
  if (chip && !chip.classList.contains("pinned")) {
    chip.classList.add("pinned");
    chip.setAttribute("aria-pressed", "true");
  }
  setShown(byId("unpin"), Boolean(state.pinned) && pinned === state.pinned);
  court.show(ref, ref ? fateShown(ref) : "");
  arrow.show(state.data, ref && ref.round >= 0 ? ref.round : -1);
}

function showStatus() {
  const { data } = state;
  const { round, phase, revealed } = clock.cursor;
  const shown = clock.visibleRounds;
  const total = data.rounds.length;
  const one = data.rounds[round];
  const rounds = total === 1 ? "1 round" : `${total} rounds`;
  setText(byId("status-round"), round < 0 ? rounds : `Round ${round + 1} of ${total}`);
  const phases = {
    draft: () => `draft: ${revealed} of ${one.d.length} proposed`,
    verify: () => `one pass of the target, verdicts: ${revealed} of ${one.d.length}`,
    done: () => one.w,
  };
  const atStart = total ? "press space to play" : data.ending || "nothing was generated";
  setText(byId("status-phase"), round < 0 ? atStart : phases[phase]());
  setText(byId("status-note"), one?.changed ? changedWords(data, round) : "");
  const settings = one ? one.set : data.rounds[0]?.set ?? -1;
  if (settings !== state.settings) {
    state.settings = settings;
    setText(byId("settings"), data.settings[settings] ?? "");
    fillDrafter(data.drafters[settings] ?? data.header.drafter, data.header);
  }
  const scrub = byId("scrub");
  if (Number(scrub.value) !== shown) scrub.value = shown;
  scrub.setAttribute("aria-valuetext", `${shown} of ${total} rounds shown`);
  byId("head").style.transform = `scaleX(${total ? 1 - shown / total : 1})`;
}

function changedWords(data, round) {
  const [before, now] = [data.rounds[round - 1].set, data.rounds[round].set];
  const drafter = data.drafters[now] || "no drafter";
  const parts = data.drafters[before] === data.drafters[now] ? [] : [drafter];
  return `settings changed: ${[...parts, data.settings[now]].join(", ")}`;
}

function showCaption() {
  const words = markers.words(clock.cursor);
  setShown(byId("caption"), words !== null);
  setText(byId("caption-title"), words?.[0] ?? "");
  setShown(byId("caption-title"), Boolean(words?.[0]));
  setText(byId("caption-note"), words?.[1] ?? "");
  setShown(byId("caption-more"), state.resumes);
}

// What a screen reader is told: verdicts one by one while stepping, nothing while it plays by itself.
function speak() {
  if (state.playing || !document.documentElement.hasAttribute("data-ready")) return;
  const where = byId("status-round").textContent;
  const words = clock.cursor.round < 0 ? "" : byId("court-words").textContent;
  setText(byId("spoken"), [where, byId("status-phase").textContent, words].filter(Boolean).join(". "));
}

// ---- playing -------------------------------------------------------------------------------

// Whether playing, or a step on its way, comes to hold at a cursor.
function holds(cursor) {
  const due = state.until !== null && cursor.round >= state.until && cursor.phase === "done";
  return due || markers.holds(cursor) || predict.asks(cursor);
}
clock.stops = holds;

function setPlaying(playing) {
  if (playing && clock.atEnd) {
    strip.following = true;
    clock.seek(-1);
    show();
  }
  state.playing = playing && state.data.rounds.length > 0;
  byId("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  setClass(byId("play").firstElementChild, `icon ${state.playing ? "icon-pause" : "icon-play"}`);
  if (state.playing) {
    state.resumes = false;
    setShown(byId("caption-more"), false);
    state.before = performance.now();
    requestAnimationFrame(frame);
  } else state.until = null;
}

function frame(now) {
  if (!state.playing) return;
  // A tab that was hidden does not catch up: presentation time passes only while it is seen.
  const seconds = Math.min(0.25, Math.max(0, now - state.before) / 1000);
  state.before = now;
  const moved = clock.advance(seconds);
  const held = moved && holds(clock.cursor);
  if (held || clock.atEnd) {
    state.resumes = held && state.until === null && !clock.atEnd;
    setPlaying(false);
  }
  if (moved) {
    show(true);
    noteMoved();
  }
  if (state.playing) requestAnimationFrame(frame);
}

// The audience has answered: the verdicts fall, and it plays on if it was playing.
function goOn() {
  const { resumes } = state;
  if (!resumes) state.until = clock.cursor.round;
  setPlaying(true);
  show(true);
}

function go(move, falling = false) {
  setPlaying(false);
  state.resumes = false;
  strip.following = true;
  move();
  show(falling);
  noteMoved();
}

function goToMarker(item) {
  byId("marker-dialog").close();
  state.pinned = null;
  go(() => clock.move(item.moment));
}

function besideMarker(forward) {
  const item = markers.beside(clock.cursor, forward);
  if (item) goToMarker(item);
}

// A drag sends more positions than are painted: only the last one before each frame counts.
function scrubTo(rounds) {
  if (state.scrubbed === null) {
    requestAnimationFrame(() => {
      const target = state.scrubbed;
      state.scrubbed = null;
      go(() => clock.seek(target - 1));
    });
  }
  state.scrubbed = rounds;
}

function setSpeed(index) {
  state.speed = Math.min(SPEEDS.length - 1, Math.max(0, index));
  clock.speed = SPEEDS[state.speed];
  setText(byId("speed"), `${clock.speed}×`);
  document.documentElement.style.setProperty("--beat", `${Math.min(0.45, 0.32 / clock.speed)}s`);
}

// ---- what is pinned ------------------------------------------------------------------------

function pin(ref) {
  const same = state.pinned && state.pinned.round === ref.round && state.pinned.slot === ref.slot;
  state.pinned = same ? null : ref;
  document.body.classList.remove("hide-court");
  byId("court-toggle").setAttribute("aria-pressed", "true");
  showCourt();
  speak();
}

function unpin() {
  state.pinned = null;
  showCourt();
}
