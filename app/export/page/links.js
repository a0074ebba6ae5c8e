// The address: moments after "#", how to begin after "?". Rounds count from 1, as they are shown.

const QUIET_MS = 300; // browsers limit how often an address may change
const links = { timer: 0 };

// How the page is to begin: ?autoplay, ?speed=2, ?theme=dark, ?predict, ?race, ?run=2
function wishes() {
  const asked = new URLSearchParams(location.search);
  const theme = asked.get("theme");
  return {
    autoplay: asked.has("autoplay"),
    speed: Number(asked.get("speed")) || 0,
    theme: theme === "light" || theme === "dark" ? theme : "",
    predict: asked.has("predict"),
    race: asked.has("race"),
    run: askedRun() || Number(asked.get("run")) || 0,
  };
}

// The run that the address names, from 1; 0 if it names none.
function askedRun() {
  return Number(new URLSearchParams(location.hash.slice(1)).get("run")) || 0;
}

// Goes where the address says, if it says so: #round=12, #round=12&phase=verify, #marker=m1
function followAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const item = markers.named(asked.get("marker"));
  if (item) {
    goToMarker(item);
    return;
  }
  const written = asked.get("round") ?? "";
  if (!/^\d+$/.test(written)) return;
  const phase = PHASE_ORDER.includes(asked.get("phase")) ? asked.get("phase") : "done";
  go(() => clock.seek(Number(written) - 1, phase));
}

function addressOf({ round, phase }) {
  const run = state.run === state.data.chosen ? "" : `&run=${state.run + 1}`;
  const at = phase === "done" || round < 0 ? "" : `&phase=${phase}`;
  return `#round=${round + 1}${at}${run}`;
}

// Called at every move; the address follows when it has become quiet.
function noteMoved() {
  if (links.timer) return;
  links.timer = setTimeout(() => {
    links.timer = 0;
    try {
      history.replaceState(null, "", addressOf(clock.cursor));
    } catch {
      // in a frame that has no address of its own it stays as it was
    }
  }, QUIET_MS);
}

function nearestSpeed(speed) {
  const far = SPEEDS.map((one) => Math.abs(Math.log(one / speed)));
  return far.indexOf(Math.min(...far));
}
