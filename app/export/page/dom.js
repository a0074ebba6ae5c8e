// Small helpers over the DOM. Text goes in as text nodes only; nothing here reads markup.

const DASH = "–"; // a figure that is not known

const byId = (id) => document.getElementById(id);

function make(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

// Writes only what changed, so that a beat that changes nothing touches nothing.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function setShown(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

function setClass(element, name) {
  if (element.className !== name) element.className = name;
}

// The same rule as the window's: three digits, never "1" for less than one.
function probability(value) {
  if (value === undefined || value === null) return "not measured";
  if (value <= 0) return "0";
  if (value >= 0.9995) return value >= 0.999995 ? "1" : value.toFixed(5);
  if (value >= 0.0995) return value.toFixed(3);
  if (value >= 0.001) return value.toFixed(4);
  const [digits, power] = value.toExponential(1).split("e-");
  return `${digits}e-${power.padStart(2, "0")}`;
}

function fateClass(data, fate) {
  return `fate-${fate} mark-${data.fates[fate].mark}`;
}
