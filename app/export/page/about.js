// Where the page comes from: facts, definitions, what could not be read. Sentences come with the page.

function fillAbout(data) {
  const facts = data.facts.map(([name, text]) => term(name, text));
  byId("about-facts").replaceChildren(...facts);
  byId("about-definitions").replaceChildren(
    ...data.figures.map((figure) => term(`${figure.name} (${figure.how})`, figure.definition)),
  );
  const races = [data.runs_race, data.race].filter(Boolean);
  byId("about-races").replaceChildren(
    ...races.filter((race) => race.outcome).map((race) => term(race.title, `${race.outcome} ${race.clock}`)),
  );
  const notices = data.notices.map((notice) => make("p", "banner", notice));
  byId("notices").replaceChildren(...notices);
  byId("about-notices").replaceChildren(...notices.map((notice) => notice.cloneNode(true)));
}

function term(name, text) {
  const line = make("div");
  line.append(make("dt", "", name), make("dd", "", text));
  return line;
}

// Who drafts may change while a run goes on; what is known in detail is whoever drafted first.
function fillDrafter(name, header) {
  setText(byId("versus"), name ? "drafted by" : "alone, no drafter");
  setText(byId("drafter-name"), name);
  setShown(byId("drafter-name"), Boolean(name));
  byId("drafter-name").title = name === header.drafter ? header.drafter_detail : "";
}

function fillHeader(data) {
  const { header } = data;
  setText(byId("title"), header.title);
  setShown(byId("title"), Boolean(header.title));
  byId("heading").title = header.title; // a long one is cut off
  setText(byId("target-name"), header.target);
  byId("target-name").title = header.target_detail;
  fillDrafter(header.drafter, header);
  const settings = make("span", "fact");
  settings.id = "settings";
  const facts = [settings, ...header.facts.map((fact) => make("span", "fact", fact))];
  // Under a title of its own the models are the first of the facts.
  const models = byId("models");
  models.classList.toggle("fact", Boolean(header.title));
  if (header.title) facts.unshift(models);
  else byId("heading").append(models);
  byId("facts").replaceChildren(...facts);
  byId("legend").replaceChildren(...header.fates.map((fate) => {
    const item = make("li");
    item.title = data.fates[fate].meaning;
    item.append(make("span", `ink ${fateClass(data, fate)}`, data.fates[fate].label));
    return item;
  }));
}

const LONG_PROMPT = 240; // characters
const MOST_GIVEN = 600; // tokens of a prompt that are shown without being asked for

function fillPrompt(data, strip) {
  const { header } = data;
  setText(byId("prompt"), header.withheld ? "Left out on request." : header.prompt);
  const long = header.prompt.length > LONG_PROMPT || header.prompt.split("\n").length > 3;
  byId("prompt-box").classList.toggle("folded", long);
  setShown(byId("prompt-more"), long);
  setShown(byId("given-toggle"), data.prompt.length > 0);
  setText(byId("ending"), data.ending);
  // Of a run that another program counted there is a text at most, and nothing to play.
  const { counted } = data;
  setText(byId("whole"), counted ? data.text : "");
  setShown(byId("whole"), counted && Boolean(data.text));
  setShown(byId("prompt-box"), !counted || header.withheld || Boolean(header.prompt));
  document.body.classList.toggle("counted", counted);
  const copied = data.rounds.some((round) => round.m?.some(([r]) => r < 0));
  showGiven(strip, copied && data.prompt.length <= MOST_GIVEN);
}

// The prompt as it was typed, or token by token as the target was given it.
function showGiven(strip, shown) {
  if (shown) strip.showPrompt();
  setShown(byId("given"), shown);
  setShown(byId("prompt"), !shown);
  byId("prompt-box").classList.toggle("as-given", shown);
  byId("given-toggle").setAttribute("aria-pressed", String(shown));
}
