// The page begins: data in, listeners on, and where and how the address says.

const DAMAGED = "The session in this page is damaged. Export it again, or fetch the file again.";
const pageData = { common: {}, runs: new Map() };

// A run's data, unpacked when it is first asked for.
async function dataOf(place) {
  if (!pageData.runs.has(place)) {
    pageData.runs.set(place, { ...pageData.common, ...await unpack(`run-${place}`) });
  }
  return pageData.runs.get(place);
}

async function chooseRun(place) {
  setPlaying(false);
  setRacing(false);
  let data = null;
  try {
    data = await dataOf(place);
  } catch {
    problem(DAMAGED);
    return;
  }
  state.run = place;
  byId("runs").value = place;
  loadRun(data);
}

function fillRuns(names) {
  byId("runs").replaceChildren(...names.map((name, place) => {
    const option = make("option", "", names.length > 1 ? `${place + 1}: ${name}` : name);
    option.value = place;
    return option;
  }));
  setShown(byId("runs"), names.length > 1);
  byId("runs").addEventListener("change", () => chooseRun(Number(byId("runs").value)).then(noteMoved));
}

function listen() {
  for (const [id, action] of Object.entries(CLICKS)) byId(id).addEventListener("click", action);
  setShown(byId("full"), document.fullscreenEnabled);
  byId("prompt-more").addEventListener("click", () => {
    const folded = byId("prompt-box").classList.toggle("folded");
    setText(byId("prompt-more"), folded ? "Show all" : "Show less");
  });
  byId("given-toggle").addEventListener("click", () => {
    showGiven(strip, byId("given").hidden);
    showCourt();
  });
  byId("scrub").addEventListener("input", () => scrubTo(Number(byId("scrub").value)));
  listenToPointer();
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", async () => {
    const run = (askedRun() || pageData.common.chosen + 1) - 1;
    if (run !== state.run && pageData.common.runs[run] !== undefined) await chooseRun(run);
    followAddress();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => overview.draw());
  let printed = null; // paper shows the whole run
  addEventListener("beforeprint", () => {
    setPlaying(false);
    printed = clock.cursor;
    clock.seek(state.data.rounds.length - 1);
    show();
  });
  addEventListener("afterprint", () => {
    if (printed) clock.move(printed);
    printed = null;
    show();
  });
}

function problem(words) {
  setText(byId("problem"), words);
  setShown(byId("problem"), true);
}

async function start() {
  if (!canUnpack()) {
    problem("This browser cannot unpack the session in this page. Open it with a browser of 2023 or later.");
    return;
  }
  try {
    const data = await unpack("data");
    const { fates, notes, runs, chosen, runs_race: all } = data;
    pageData.common = { fates, notes, runs, chosen, runs_race: all };
    pageData.runs.set(chosen, data);
  } catch {
    problem(DAMAGED);
    return;
  }
  const wished = wishes();
  const { chosen, runs } = pageData.common;
  if (wished.theme) document.documentElement.dataset.theme = wished.theme;
  fillRuns(runs);
  setSpeed(wished.speed > 0 ? nearestSpeed(wished.speed) : state.speed);
  setScale(USUAL_SCALE);
  await chooseRun(runs[wished.run - 1] === undefined ? chosen : wished.run - 1);
  listen();
  setPredict(wished.predict);
  followAddress();
  document.documentElement.setAttribute("data-ready", "");
  if (wished.race) setRacing(true);
  if (wished.autoplay && isRacing()) race.setPlaying(true);
  else if (wished.autoplay) setPlaying(true);
}

start();
