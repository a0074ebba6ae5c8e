// Where an n-gram drafter copied a draft from: its source is marked, and an arrow ties both.
// Knows chips' places; the words come with the page.

const SVG = "http://www.w3.org/2000/svg";

class Arrow {
  constructor(scroller, strip) {
    this.scroller = scroller;
    this.strip = strip;
    this.picture = document.createElementNS(SVG, "svg");
    this.picture.setAttribute("class", "arrow");
    this.picture.setAttribute("aria-hidden", "true");
    this.way = ["halo", "way", "point"].map((name) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      this.picture.append(path);
      return path;
    });
    scroller.append(this.picture);
    this.marked = [];
    this.round = -1;
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  // `round` whose draft is tied to its source, if it was copied; its tokens must be shown.
  show(data, round) {
    this.data = data;
    this.round = round;
    const source = data.rounds[round]?.m;
    const chips = source ? source.map(([r, slot]) => this.strip.chip(r, slot)) : [];
    for (const chip of this.marked) if (!chips.includes(chip)) chip.classList.remove("source");
    this.marked = chips.filter(Boolean);
    for (const chip of this.marked) chip.classList.add("source");
    this.draw();
  }

  draw() {
    const shown = this.marked.filter((chip) => chip.getClientRects().length);
    const first = this.round >= 0 ? this.strip.chip(this.round, 0) : null;
    const drawn = shown.length > 0 && first !== null && first.getClientRects().length > 0;
    this.picture.classList.toggle("none", !drawn);
    if (!drawn) return;
    const box = this.scroller.getBoundingClientRect();
    const left = this.scroller.scrollLeft - box.left - this.scroller.clientLeft;
    const top = this.scroller.scrollTop - box.top - this.scroller.clientTop;
    const from = [...shown.at(-1).getClientRects()].at(-1);
    const to = first.querySelector(".ink").getClientRects()[0];
    const em = parseFloat(getComputedStyle(first).fontSize);
    const tip = { x: left + to.left + to.width / 2, y: top + to.top };
    const level = Math.abs(from.top - to.top) < em / 2;
    const start = { x: left + from.left + from.width / 2, y: top + (level ? from.top : from.bottom) };
    const neck = tip.y - 0.34 * em;
    const across = Math.abs(tip.x - start.x);
    const down = Math.min(0.55 * Math.max(neck - start.y, 0.3 * em), 4 * em);
    const reach = level ? 0.5 * em + across / 6 : down;
    const bow = !level && across < 2 * em ? 1.5 * em : 0;
    const leave = level ? start.y - reach : start.y + reach;
    const curve = `M ${start.x} ${start.y} C ${start.x + bow} ${leave}, ${tip.x + bow} ${neck - reach}, ${tip.x} ${neck}`;
    const head = `M ${tip.x} ${tip.y} l ${-0.26 * em} ${-0.4 * em} h ${0.52 * em} z`;
    this.way[0].setAttribute("d", curve);
    this.way[1].setAttribute("d", curve);
    this.way[2].setAttribute("d", head);
  }
}
