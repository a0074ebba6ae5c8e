// Puts the parts together: data in, one clock, buttons, keys, pointer. Owns what is pinned and shown.

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
const SCALES = [0.7, 0.8, 0.9, 1, 1.15, 1.3, 1.5, 1.75, 2];
const LONG_PROMPT = 240; // characters

const data = JSON.parse(byId("data").textContent);
const clock = new Clock(data.rounds, data.clock);
const strip = new Strip(byId("text"), byId("strip"), data);
const court = new Court(data);
const tip = new Tip(data);
const cards = new FigureCards(byId("figures"), data);
const overview = new Overview(byId("overview"), data);
const state = { playing: false, pinned: null, speed: 2, scale: 3, before: 0, settings: -1, mark: null, scrubbed: null };

// ---- showing -------------------------------------------------------------------------------

function fateShown(ref) {
  const token = tokenAt(data, ref);
  const { cursor } = clock;
  if (!token || ref.round > cursor.round) return "";
  if (ref.slot < 0) return ref.round < cursor.round || cursor.phase === "done" ? token.f : "";
  return shownFate(token, ref.slot, ref.round < cursor.round ? null : cursor);
}

// The token that the last beat was about.
function newest() {
  const { round, phase, revealed } = clock.cursor;
  if (round < 0) return null;
  const one = data.rounds[round];
  if (phase === "done") return { round, slot: one.c ? -1 : one.d.length - 1 };
  if (phase === "draft") return { round, slot: revealed - 1 };
  let slot = Math.max(0, revealed - 1);
  while (slot > 0 && ["discarded", "cut"].includes(one.d[slot].f)) slot -= 1;
  return { round, slot };
}

function show(falling = false) {
  strip.show(clock.cursor, falling);
  showCourt();
  cards.show(clock.visibleRounds);
  showStatus();
  byId("text").classList.toggle("ended", clock.atEnd);
  setShown(byId("ending"), clock.atEnd && Boolean(data.ending));
  if (tip.chip && !tip.chip.isConnected) tip.hide();
}

function showCourt() {
  const pinned = state.pinned && fateShown(state.pinned) ? state.pinned : null;
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
  setShown(byId("unpin"), Boolean(pinned));
  court.show(ref, ref ? fateShown(ref) : "");
}

function showStatus() {
  const { round, phase, revealed } = clock.cursor;
  const shown = clock.visibleRounds;
  const total = data.rounds.length;
  const one = data.rounds[round];
  setText(byId("status-round"), round < 0 ? `${total} rounds` : `Round ${round + 1} of ${total}`);
  const phases = {
    draft: () => `draft: ${revealed} of ${one.d.length} proposed`,
    verify: () => `one pass of the target, verdicts: ${revealed} of ${one.d.length}`,
    done: () => one.w,
  };
  setText(byId("status-phase"), round < 0 ? "press space to play" : phases[phase]());
  setText(byId("status-note"), one?.changed ? `settings changed: ${data.settings[one.set]}` : "");
  const settings = one ? one.set : data.rounds[0]?.set ?? -1;
  if (settings !== state.settings) {
    state.settings = settings;
    setText(byId("settings"), data.settings[settings] ?? "");
  }
  const scrub = byId("scrub");
  if (Number(scrub.value) !== shown) scrub.value = shown;
  scrub.setAttribute("aria-valuetext", `${shown} of ${total} rounds shown`);
  byId("head").style.transform = `scaleX(${total ? 1 - shown / total : 1})`;
}

// ---- playing -------------------------------------------------------------------------------

function setPlaying(playing) {
  if (playing && clock.atEnd) {
    strip.following = true;
    clock.seek(-1);
    show();
  }
  state.playing = playing && data.rounds.length > 0;
  byId("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  setClass(byId("play").firstElementChild, `icon ${state.playing ? "icon-pause" : "icon-play"}`);
  byId("status").setAttribute("aria-live", state.playing ? "off" : "polite");
  if (state.playing) {
    state.before = performance.now();
    requestAnimationFrame(frame);
  }
}

function frame(now) {
  if (!state.playing) return;
  // A tab that was hidden does not catch up: presentation time passes only while it is seen.
  const seconds = Math.min(0.25, Math.max(0, now - state.before) / 1000);
  state.before = now;
  if (clock.advance(seconds)) show(true);
  if (clock.atEnd) setPlaying(false);
  else requestAnimationFrame(frame);
}

function go(move, falling = false) {
  setPlaying(false);
  strip.following = true;
  move();
  show(falling);
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

function setScale(index) {
  state.scale = Math.min(SCALES.length - 1, Math.max(0, index));
  document.documentElement.style.setProperty("--scale", SCALES[state.scale]);
}

// ---- what is shown or hidden ---------------------------------------------------------------

function toggle(button, name) {
  const hidden = document.body.classList.toggle(name);
  byId(button).setAttribute("aria-pressed", String(!hidden));
  tip.hide();
}

function toggleRaw() {
  court.raw = !court.raw;
  byId("raw").setAttribute("aria-pressed", String(court.raw));
  showCourt();
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  overview.draw();
}

function toggleFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
}

function pin(ref) {
  const same = state.pinned && state.pinned.round === ref.round && state.pinned.slot === ref.slot;
  state.pinned = same ? null : ref;
  document.body.classList.remove("hide-court");
  byId("court-toggle").setAttribute("aria-pressed", "true");
  showCourt();
}

function unpin() {
  state.pinned = null;
  showCourt();
}

// ---- pointer and keys ----------------------------------------------------------------------

function refOf(node) {
  const chip = node instanceof Element ? node.closest("#text .chip") : null;
  return chip ? { chip, ref: { round: +chip.dataset.round, slot: +chip.dataset.slot } } : null;
}

function showTip(event) {
  const found = refOf(event.target);
  if (found) tip.show(found.chip, found.ref, fateShown(found.ref));
  else tip.hide();
}

// From token to token, in the order of the text; hidden ones are passed over.
function focusToken(from, step) {
  const chips = [...byId("text").querySelectorAll(".chip")];
  let i = from ? chips.indexOf(from) + step : step > 0 ? 0 : chips.length - 1;
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

const KEYS = {
  " ": () => setPlaying(!state.playing),
  ArrowRight: () => go(() => clock.stepRound(), true),
  PageDown: () => go(() => clock.stepRound(), true),
  ArrowLeft: () => go(() => clock.stepRoundBack()),
  PageUp: () => go(() => clock.stepRoundBack()),
  ArrowDown: () => go(() => clock.stepPhase(), true),
  ArrowUp: () => go(() => clock.stepPhaseBack()),
  Home: () => go(() => clock.seek(-1)),
  End: () => go(() => clock.seek(data.rounds.length - 1)),
  "[": () => setSpeed(state.speed - 1),
  "]": () => setSpeed(state.speed + 1),
  "+": () => setScale(state.scale + 1),
  "=": () => setScale(state.scale + 1),
  "-": () => setScale(state.scale - 1),
  0: () => setScale(3),
  r: () => toggle("drafts", "hide-drafts"),
  c: () => toggle("court-toggle", "hide-court"),
  l: toggleRaw,
  d: toggleTheme,
  f: toggleFull,
  "?": () => byId("keys").showModal(),
  Escape: () => { tip.hide(); unpin(); },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const inText = byId("text").contains(event.target);
  const onButton = event.target instanceof HTMLButtonElement;
  if (inText && textKey(event)) event.preventDefault();
  else if (onButton && (event.key === " " || event.key === "Enter")) return;
  else if (Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

// ---- the page ------------------------------------------------------------------------------

function fillHeader() {
  const { header } = data;
  setText(byId("target-name"), header.target);
  byId("target-name").title = header.target_detail;
  setText(byId("versus"), header.drafter ? "drafted by" : "alone, no drafter");
  setText(byId("drafter-name"), header.drafter);
  setShown(byId("drafter-name"), Boolean(header.drafter));
  byId("drafter-name").title = header.drafter_detail;
  const settings = make("span", "fact");
  settings.id = "settings";
  byId("facts").append(settings, ...header.facts.map((fact) => make("span", "fact", fact)));
  for (const fate of header.fates) {
    const item = make("li");
    item.title = data.fates[fate].meaning;
    item.append(make("span", `ink ${fateClass(data, fate)}`, data.fates[fate].label));
    byId("legend").append(item);
  }
  for (const notice of data.notices) byId("notices").append(make("p", "banner", notice));
  setText(byId("prompt"), header.prompt);
  const long = header.prompt.length > LONG_PROMPT || header.prompt.split("\n").length > 3;
  byId("prompt-box").classList.toggle("folded", long);
  setShown(byId("prompt-more"), long);
  setText(byId("ending"), data.ending);
}

function listen() {
  const clicks = {
    play: KEYS[" "], round: KEYS.ArrowRight, back: KEYS.ArrowLeft, phase: KEYS.ArrowDown,
    first: KEYS.Home, last: KEYS.End, slower: KEYS["["], faster: KEYS["]"], drafts: KEYS.r,
    "court-toggle": KEYS.c, raw: toggleRaw, theme: toggleTheme, full: toggleFull, help: KEYS["?"], unpin,
  };
  for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
  byId("prompt-more").addEventListener("click", () => {
    const folded = byId("prompt-box").classList.toggle("folded");
    setText(byId("prompt-more"), folded ? "Show all" : "Show less");
  });
  const scrub = byId("scrub");
  scrub.max = data.rounds.length;
  scrub.addEventListener("input", () => scrubTo(Number(scrub.value)));
  const text = byId("text");
  text.tabIndex = 0;
  text.addEventListener("pointerover", showTip);
  text.addEventListener("pointerleave", () => tip.hide());
  text.addEventListener("focusin", showTip);
  text.addEventListener("focusout", () => tip.hide());
  text.addEventListener("click", (event) => {
    const found = refOf(event.target);
    if (found && String(getSelection()) === "") pin(found.ref);
  });
  byId("strip").addEventListener("scroll", () => tip.hide(), { passive: true });
  document.addEventListener("keydown", onKey);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => overview.draw());
  let printed = null; // paper shows the whole run
  addEventListener("beforeprint", () => {
    setPlaying(false);
    printed = clock.cursor;
    clock.seek(data.rounds.length - 1);
    show();
  });
  addEventListener("afterprint", () => {
    if (printed) clock.move(printed);
    printed = null;
    show();
  });
}

fillHeader();
byId("scrub").max = data.rounds.length;
setSpeed(state.speed);
setScale(state.scale);
listen();
setPlaying(false);
show();
