// The screen as a speaker sets it: light or dark, larger or smaller, full, black.

const SCALES = [0.7, 0.8, 0.9, 1, 1.15, 1.3, 1.5, 1.75, 2];
const USUAL_SCALE = 3;
const screenState = { scale: USUAL_SCALE };

function setScale(index) {
  screenState.scale = Math.min(SCALES.length - 1, Math.max(0, index));
  document.documentElement.style.setProperty("--scale", SCALES[screenState.scale]);
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  overview.draw();
}

function toggleFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
}

// A blank screen, so that people look at the speaker.
function setBlack(black) {
  setShown(byId("black"), black);
}

function isBlack() {
  return !byId("black").hidden;
}
