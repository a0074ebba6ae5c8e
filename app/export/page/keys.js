// Keyboard, clicker and pointer: who asked for what.

function refOf(node) {
  const chip = node instanceof Element ? node.closest("#strip .chip") : null;
  return chip ? { chip, ref: { round: +chip.dataset.round, slot: +chip.dataset.slot } } : null;
}

function showTip(event) {
  const found = refOf(event.target);
  const fate = found ? fateShown(found.ref) : "";
  if (!fate) {
    tip.hide();
    return;
  }
  tip.show(found.chip, found.ref, fate);
  tip.top = byId("strip").scrollTop;
}

// From token to token, in the order of the text; hidden ones are passed over.
function focusToken(from, step) {
  const chips = [...byId("strip").querySelectorAll(".chip")];
  const first = chips.findIndex((chip) => byId("text").contains(chip));
  let i = from ? chips.indexOf(from) + step : step > 0 ? first : chips.length - 1;
  while (chips[i] && !chips[i].getClientRects().length) i += step;
  chips[i]?.focus();
}

function textKey(event) {
  const found = refOf(event.target);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) focusToken(found?.chip ?? null, step);
  else if (found && (event.key === "Enter" || event.key === " ")) pin(found.ref);
  else return false;
  return true;
}

function toggle(button, name) {
  const hidden = document.body.classList.toggle(name);
  byId(button).setAttribute("aria-pressed", String(!hidden));
  tip.hide();
  arrow.draw();
}

function toggleRaw() {
  court.raw = !court.raw;
  byId("raw").setAttribute("aria-pressed", String(court.raw));
  showCourt();
}

function setPredict(on) {
  predict.on = on;
  byId("predict-toggle").setAttribute("aria-pressed", String(on));
  predict.show(clock.cursor);
}

function setRacing(racing) {
  if (racing && !race.races.length) return;
  if (racing) setPlaying(false);
  else race.setPlaying(false);
  tip.hide();
  document.body.classList.toggle("racing", racing);
  setShown(byId("race"), racing);
  byId("race-toggle").setAttribute("aria-pressed", String(racing));
}

const isRacing = () => document.body.classList.contains("racing");

// A long page of words begins at its top; a list at its first entry.
function openDialog(id) {
  byId(id).showModal();
  byId(id).querySelector("h2[tabindex]")?.focus();
}

const openMarkers = () => { if (markers.items.length) openDialog("marker-dialog"); };

// A clicker has two buttons: from what is said to what is said next, and a round where nothing is.
function clickOn() {
  const { cursor } = clock;
  const next = state.playing ? markers.holdBeside(cursor, true) : null;
  if (next) goToMarker(next);
  else if (state.resumes || (markers.holds(cursor) && !clock.atEnd)) setPlaying(true);
  else go(() => clock.stepRound(), true);
}

function clickBack() {
  const { cursor } = clock;
  const before = state.playing || markers.holds(cursor) ? markers.holdBeside(cursor, false) : null;
  if (before) goToMarker(before);
  else go(() => clock.stepRoundBack());
}

const KEYS = {
  " ": () => setPlaying(!state.playing),
  arrowright: () => go(() => clock.stepRound(), true),
  pagedown: clickOn,
  arrowleft: () => go(() => clock.stepRoundBack()),
  pageup: clickBack,
  arrowdown: () => go(() => clock.stepPhase(), true),
  arrowup: () => go(() => clock.stepPhaseBack()),
  home: () => go(() => clock.seek(-1)),
  end: () => go(() => clock.seek(state.data.rounds.length - 1)),
  "[": () => setSpeed(state.speed - 1),
  "]": () => setSpeed(state.speed + 1),
  n: () => besideMarker(true),
  p: () => besideMarker(false),
  m: openMarkers,
  g: () => setPredict(!predict.on),
  r: () => toggle("drafts", "hide-drafts"),
  c: () => toggle("court-toggle", "hide-court"),
  l: toggleRaw,
  escape: () => { tip.hide(); unpin(); },
};

const RACE_KEYS = {
  " ": () => race.setPlaying(!race.playing),
  // a clicker's forward starts the race, and leaves it when it is over
  pagedown: () => (race.us >= race.end ? setRacing(false) : race.setPlaying(!race.playing)),
  pageup: () => { race.setPlaying(false); race.restart(); },
  home: () => { race.setPlaying(false); race.restart(); },
  "[": () => race.setPace(race.pace + 1),
  "]": () => race.setPace(race.pace - 1),
  escape: () => setRacing(false),
};

const ALWAYS = {
  "+": () => setScale(screenState.scale + 1),
  "=": () => setScale(screenState.scale + 1),
  "-": () => setScale(screenState.scale - 1),
  0: () => setScale(USUAL_SCALE),
  d: () => setTheme(isDark() ? "light" : "dark"),
  f: toggleFull,
  v: () => setRacing(!isRacing()),
  i: () => openDialog("about"),
  b: () => setBlack(true),
  ".": () => setBlack(true),
  "?": () => openDialog("keys"),
};

// Returns whether the key meant something.
function take(event) {
  const key = event.key.toLowerCase();
  const racing = isRacing();
  if (isBlack()) {
    setBlack(false);
    return true;
  }
  if (!racing && byId("strip").contains(event.target) && textKey(event)) return true;
  if (event.target instanceof HTMLButtonElement && (key === " " || key === "enter")) return false;
  if (!racing && /^\d$/.test(key) && predict.asks(clock.cursor)) {
    predict.answer(clock.cursor.round, Number(key));
    return true;
  }
  const own = racing ? RACE_KEYS : KEYS;
  const table = Object.hasOwn(own, key) ? own : ALWAYS;
  if (!Object.hasOwn(table, key)) return false;
  table[key]();
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target instanceof HTMLSelectElement) return;
  if (take(event)) event.preventDefault();
}

const CLICKS = {
  play: KEYS[" "], "start-play": KEYS[" "], round: KEYS.arrowright, back: KEYS.arrowleft, phase: KEYS.arrowdown,
  first: KEYS.home, last: KEYS.end, slower: KEYS["["], faster: KEYS["]"], drafts: KEYS.r,
  "court-toggle": KEYS.c, raw: toggleRaw, theme: ALWAYS.d, full: toggleFull, help: ALWAYS["?"], unpin,
  markers: openMarkers, "predict-toggle": KEYS.g, "race-toggle": ALWAYS.v, source: ALWAYS.i,
  "predict-skip": KEYS.pagedown, "caption-more": KEYS[" "], black: () => setBlack(false),
  "race-play": RACE_KEYS[" "], "race-restart": RACE_KEYS.home, "race-close": RACE_KEYS.escape,
  "race-slower": RACE_KEYS["["], "race-faster": RACE_KEYS["]"],
};

function listenToPointer() {
  // what was clicked gives the keyboard back: space plays, and does not press the button again
  document.addEventListener("click", (event) => {
    if (event.detail && event.target instanceof Element) event.target.closest("#page button")?.blur();
  });
  const text = byId("strip");
  text.addEventListener("pointerover", showTip);
  text.addEventListener("pointerleave", () => tip.hide());
  text.addEventListener("focusin", showTip);
  text.addEventListener("focusout", () => tip.hide());
  text.addEventListener("click", (event) => {
    const found = refOf(event.target);
    if (found && String(getSelection()) === "") pin(found.ref);
  });
  // word of a scroll comes a frame late: what was shown since then stays
  text.addEventListener("scroll", () => { if (text.scrollTop !== tip.top) tip.hide(); }, { passive: true });
}
