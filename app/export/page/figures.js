// The running figures. Their texts come with the page; nothing is computed here.

class FigureCards {
  constructor(root) {
    this.root = root;
  }

  load(data) {
    this.data = data;
    this.root.replaceChildren();
    this.cards = data.figures.map((figure) => {
      const card = make("section", "figure");
      card.title = figure.definition;
      const head = make("h2", "", figure.name);
      const how = make("span", `how how-${figure.how}`, figure.how);
      const value = make("p", "value");
      const number = make("strong");
      const unit = make("span", "unit", figure.unit);
      value.append(number, unit);
      const detail = make("p", "detail");
      head.append(how);
      card.append(head, value, detail);
      this.root.append(card);
      return { number, unit, detail };
    });
  }

  show(rounds) {
    this.data.readings[rounds].forEach(([text, detail], i) => {
      setText(this.cards[i].number, text);
      setShown(this.cards[i].unit, text !== DASH);
      setText(this.cards[i].detail, detail);
    });
  }
}
