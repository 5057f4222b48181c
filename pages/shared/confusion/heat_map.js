// The confusion table as a heat map: a grid of cells. The arrow keys move, Enter or a click opens a cell. Every string
// goes in as textContent or an attribute.

export default function (component) {
  const { data, parentElement } = component;
  const memory = (parentElement.nerevalHeatMap ??= {});
  const held = parentElement.querySelector(":scope > .nvm");
  memory.setTriggerValue = component.setTriggerValue;
  // Another chosen cell changes nothing else: the table stays as it is drawn.
  const drawn = JSON.stringify({ ...data, chosen: null });
  if (held && memory.drawn === drawn) return memory.markChosen(data.chosen);
  memory.drawn = drawn;
  // Other numbers for the same types, as of another criterion, go into the cells that stand there.
  const types = JSON.stringify({ ...data, chosen: null, texts: null, titles: null, shades: null, scales: null });
  if (held && memory.types === types) return memory.showNumbers(data);
  memory.types = types;
  const order = JSON.stringify([data.keys, data.columnKeys]);
  const scrolled = memory.order === order ? held?.querySelector(".nvm-scroll").scrollLeft : 0;
  memory.order = order;
  const focused = held?.contains(document.activeElement) ? (/** @type {HTMLElement} */ (document.activeElement)).dataset.at : null;
  const root = element("div", "nvm");
  const grid = element("table", "");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", data.label);
  const unfold = (name) => memory.setTriggerValue("unfold", name);
  grid.append(head(data));
  const body = element("tbody", "");
  const cells = data.rows.map((name, row) => {
    const line = element("tr", row === data.rows.length - 1 ? "nvm-apart" : "");
    line.append(heading(name, "row", false, data.folded[row] ? () => unfold(data.keys[row]) : null, data.folded[row]));
    const cellsOfRow = data.columns.map((_, column) => cell(data, row, column));
    line.append(...cellsOfRow);
    body.append(line);
    return cellsOfRow;
  });
  grid.append(body);
  const status = element("p", "nvm-status");
  status.setAttribute("aria-hidden", "true");
  const scroller = element("div", "nvm-scroll");
  scroller.append(grid);
  root.append(scroller, status, scaleLegend(data));
  let chosen = null;

  const placeOf = (target) => target.dataset.at.split(" ").map(Number);
  const choose = (target) => {
    const [row, column] = placeOf(target);
    memory.setTriggerValue("choose", [data.keys[row], (data.columnKeys ?? data.keys)[column]]);
  };
  const focus = (target) => {
    root.querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1");
    target.tabIndex = 0;
    target.focus();
  };
  // The names of the row and of the column of a cell are drawn, also where labels are left out; the status line has them whole.
  const point = (target) => {
    const place = target ? placeOf(target) : chosen;
    status.textContent = place ? cells[place[0]][place[1]].title : "\u00a0";
    const [rows, columns] = labelsOf(root);
    mark(rows, place?.[0], Number(root.dataset.everyRow));
    mark(columns, place?.[1], Number(root.dataset.everyColumn));
  };
  memory.markChosen = (place) => {
    chosen = place;
    for (const target of root.querySelectorAll("td[aria-selected='true']")) target.setAttribute("aria-selected", "false");
    const target = chosen && cells[chosen[0]]?.[chosen[1]];
    target?.setAttribute("aria-selected", "true");
    if (!root.contains(document.activeElement)) {
      root.querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1");
      (target ?? cells[0][0]).tabIndex = 0;
    }
    point(document.activeElement?.closest?.(".nvm td"));
  };
  const onCell = (act) => (event) => {
    const target = event.target.closest("td");
    if (target) act(target, event);
  };
  root.addEventListener("click", onCell((target) => (focus(target), choose(target))));
  root.addEventListener("focusin", onCell(point));
  root.addEventListener("pointerover", onCell(point));
  root.addEventListener("pointerleave", () => point(document.activeElement?.closest?.(".nvm td")));
  root.addEventListener(
    "keydown",
    onCell((target, event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (!step) return choose(target);
      const [row, column] = placeOf(target);
      const next = cells[row + step[0]]?.[column + step[1]];
      if (next) focus(next);
    }),
  );

  if (held) held.replaceWith(root);
  else parentElement.append(root);
  const longest = Math.max(...[...data.rows, ...data.columns].map((name) => [...name].length));
  let texts = data.texts.flat();
  const fit = () => {
    const widestText = Math.max(1, ...texts.map((text) => inCell(text).length));
    fitTo(root, mapLayout(parentElement.clientWidth, data.columns.length, longest, widestText));
    point(document.activeElement?.closest?.(".nvm td"));
  };
  memory.showNumbers = (changed) => {
    texts = changed.texts.flat();
    cells.forEach((line, row) => line.forEach((target, column) => showNumber(target, changed, row, column)));
    root.querySelector(".nvm-legend").replaceWith(scaleLegend(changed));
    fit();
    memory.markChosen(changed.chosen);
  };
  memory.observer?.disconnect();
  memory.observer = new ResizeObserver(fit);
  memory.observer.observe(parentElement);
  fit();
  scroller.scrollLeft = scrolled ?? 0;
  memory.markChosen(data.chosen);
  if (focused) root.querySelector(`td[data-at="${focused}"]`)?.focus();
}

function fitTo(root, layout) {
  const fitted = JSON.stringify(layout);
  if (root.dataset.fitted === fitted) return;
  root.dataset.fitted = fitted;
  for (const name of ["label", "cell", "row", "font"]) root.style.setProperty(`--nvm-${name}`, `${layout[name]}px`);
  root.classList.toggle("nvm-upright", layout.isUpright);
  root.classList.toggle("nvm-blank", !layout.hasTexts);
  const thin = (labels, every) =>
    labels.forEach((label, place) => label.classList.toggle("nvm-thin", place % every > 0 && place < labels.length - 1));
  const [rows, columns] = labelsOf(root);
  root.dataset.everyRow = layout.everyRow;
  root.dataset.everyColumn = layout.everyColumn;
  thin(rows, layout.everyRow);
  thin(columns, layout.everyColumn);
  const widthOf = labelWidths(root, `${layout.font}px`);
  cutLabels(rows, layout.label - BESIDE_LABEL, widthOf);
  cutLabels(columns, layout.isUpright ? UPRIGHT : layout.cell, widthOf);
}

// Labels that have no room are cut in the middle; tooltip and status line have them whole.
function cutLabels(labels, room, widthOf) {
  const names = [...new Set(labels.map((label) => label.dataset.whole))];
  for (const label of labels) {
    label.querySelector(".nvm-name").textContent = cutLabel(label.dataset.whole, room, widthOf, names);
  }
}

// The labels of rows and of columns.
function labelsOf(root) {
  return [[...root.querySelectorAll("tbody th")], [...root.querySelectorAll("thead th")].slice(1)];
}

// Mark a label; where there is room for one of `every` so many, its neighbours give way.
function mark(labels, place, every) {
  labels.forEach((label, at) => {
    label.classList.toggle("nvm-here", at === place);
    label.classList.toggle("nvm-near", place !== undefined && at !== place && Math.abs(at - place) < every);
  });
}

function head(data) {
  const line = element("tr", "");
  const corner = element("th", "");
  corner.textContent = `${data.sides[0]} ↓  ${data.sides[1]} →`;
  line.append(corner, ...data.columns.map((name, column) => heading(name, "col", column === data.columns.length - 1)));
  const group = element("thead", "");
  group.append(line);
  return group;
}

// The heading of a row or column; that of a folded row is a button.
function heading(name, scope, isApart, unfold = null, types = 0) {
  const label = element("th", isApart ? "nvm-apart" : "");
  label.scope = scope;
  const text = element(unfold ? "button" : "span", "nvm-name");
  label.dataset.whole = text.textContent = unfold ? `▸ ${name}` : name;
  label.title = unfold ? `${name}: ${types} types; unfold` : name;
  if (unfold) {
    text.type = "button";
    text.setAttribute("aria-expanded", "false");
    text.addEventListener("click", unfold);
  }
  label.append(text);
  return label;
}

function cell(data, row, column) {
  const box = element("td", column === data.columns.length - 1 ? "nvm-apart" : "");
  box.setAttribute("role", "gridcell");
  box.tabIndex = -1;
  box.dataset.at = `${row} ${column}`;
  box.setAttribute("aria-selected", "false");
  showNumber(box, data, row, column);
  return box;
}

function showNumber(box, data, row, column) {
  const shade = data.shades[row][column];
  box.textContent = inCell(data.texts[row][column]);
  box.title = `${data.sides[0]} ${data.rows[row]}, ${data.sides[1]} ${data.columns[column]}: ${data.titles[row][column]}`;
  box.setAttribute("aria-label", box.title);
  box.style.setProperty("--nvm-shade", String(shade ?? 0));
  box.classList.toggle("nvm-same", shade === null);
  // From there on the colour of the text changes: its contrast is at least 4.5 in both themes.
  box.classList.toggle("nvm-strong", (shade ?? 0) > 0.55);
  box.classList.toggle("nvm-deep", (shade ?? 0) > 0.67);
  box.classList.toggle("nvm-full", (shade ?? 0) > 0.85);
}

// A cell leaves out the unit, which the legend names.
function inCell(text) {
  return text.replace(" %", "");
}

function scaleLegend(data) {
  const line = element("p", "nvm-legend");
  for (const { label, most } of data.scales) {
    const scale = element("span", "nvm-scale");
    const ramp = element("span", "nvm-ramp");
    ramp.setAttribute("aria-hidden", "true");
    scale.append(`${label} 0 `, ramp, ` ${most}`);
    line.append(scale);
  }
  const same = element("span", "nvm-scale");
  same.append(element("span", "nvm-swatch"), ` ${data.same}`);
  line.append(same);
  return line;
}

function element(name, className) {
  const node = document.createElement(name);
  if (className) node.className = className;
  return node;
}
