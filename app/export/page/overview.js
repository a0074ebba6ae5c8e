// The whole run at a glance under the scrubber: a column a round, its tokens by fate. Drawn anew only
// when size or colours change; rounds that share a pixel share a column.

const STACK = ["accepted", "correction", "bonus", "plain", "rejected", "discarded", "cut"];

class Overview {
  constructor(canvas) {
    this.canvas = canvas;
    this.counts = [];
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  load(data) {
    this.counts = data.rounds.map((round) => {
      const counts = {};
      for (const token of [...round.d, round.c]) {
        if (token) counts[token.f] = (counts[token.f] ?? 0) + 1;
      }
      return counts;
    });
    this.tallest = Math.max(1, ...data.rounds.map((r) => r.d.length + (r.c ? 1 : 0)));
    this.draw();
  }

  draw() {
    const scale = devicePixelRatio;
    const width = Math.round(this.canvas.clientWidth * scale);
    const height = Math.round(this.canvas.clientHeight * scale);
    if (!width || !height || !this.counts.length) return;
    this.canvas.width = width;
    this.canvas.height = height;
    const paint = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colours = STACK.map((fate) => style.getPropertyValue(`--fate-${fate}`));
    const step = width / this.counts.length;
    const gap = step >= 6 ? Math.min(step * 0.25, 4 * scale) : 0;
    const unit = height / this.tallest;
    const stride = Math.max(1, Math.ceil(1 / step));
    for (let r = 0; r < this.counts.length; r += stride) {
      const x = r * step + gap / 2;
      let y = height;
      STACK.forEach((fate, i) => {
        const tall = (this.counts[r][fate] ?? 0) * unit;
        if (!tall) return;
        paint.globalAlpha = fate === "discarded" || fate === "cut" ? 0.35 : 1;
        paint.fillStyle = colours[i];
        paint.fillRect(x, y - tall, Math.max(1, step * stride - gap), tall - (unit > 4 ? scale : 0));
        y -= tall;
      });
    }
  }
}
