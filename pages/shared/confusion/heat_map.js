// The confusion table as a heat map: a grid of cells that mouse and arrow keys choose from. Every string goes in as
// textContent or an attribute.

const PAUSE = 120; // milliseconds that an arrow key waits for the next one before its cell is chosen

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const memory = (parentElement.nerevalHeatMap ??= { timer: 0 });
  const held = parentElement.querySelector(":scope > .nvm");
  const focused = held?.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  const root = element("div", "nvm");
  root.classList.toggle("nvm-many", data.columns.length > 8);
  const grid = element("table", "");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", data.label);
  grid.append(head(data));
  const body = element("tbody", "");
  const cells = data.rows.map((name, row) => {
    const line = element("tr", row === data.rows.length - 1 ? "nvm-apart" : "");
    line.append(named(name, "row"));
    const found = data.columns.map((_, column) => cell(data, row, column));
    line.append(...found);
    body.append(line);
    return found;
  });
  grid.append(body);
  root.append(grid);
  const first = data.chosen ?? [0, 0];
  (cells[first[0]]?.[first[1]] ?? cells[0][0]).tabIndex = 0;

  const choose = (target) => {
    clearTimeout(memory.timer);
    setTriggerValue("choose", target.dataset.at.split(" ").map(Number));
  };
  const focus = (target) => {
    root.querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1");
    target.tabIndex = 0;
    target.focus();
  };
  root.addEventListener("click", (event) => {
    const target = event.target.closest("td");
    if (!target) return;
    focus(target);
    choose(target);
  });
  root.addEventListener("keydown", (event) => {
    const target = event.target.closest("td");
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!target || (!step && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    if (!step) return choose(target);
    const [row, column] = target.dataset.at.split(" ").map(Number);
    const next = cells[row + step[0]]?.[column + step[1]];
    if (!next) return;
    focus(next);
    clearTimeout(memory.timer);
    memory.timer = setTimeout(() => choose(next), PAUSE);
  });

  const scrolled = held ? [held.scrollLeft, held.scrollTop] : null;
  if (held) held.replaceWith(root);
  else parentElement.append(root);
  if (scrolled) [root.scrollLeft, root.scrollTop] = scrolled;
  if (focused) root.querySelector(`td[data-at="${focused}"]`)?.focus();
}

function head(data) {
  const line = element("tr", "");
  const corner = element("th", "");
  corner.textContent = `${data.sides[0]} ↓  ${data.sides[1]} →`;
  line.append(corner, ...data.columns.map((name, column) => named(name, "col", column === data.columns.length - 1)));
  const found = element("thead", "");
  found.append(line);
  return found;
}

function named(name, scope, apart = false) {
  const found = element("th", apart ? "nvm-apart" : "");
  found.scope = scope;
  found.textContent = found.title = name;
  return found;
}

function cell(data, row, column) {
  const found = element("td", column === data.columns.length - 1 ? "nvm-apart" : "");
  const shade = data.shades[row][column];
  found.setAttribute("role", "gridcell");
  found.tabIndex = -1;
  found.dataset.at = `${row} ${column}`;
  found.textContent = data.texts[row][column];
  found.title = `${data.sides[0]} ${data.rows[row]}, ${data.sides[1]} ${data.columns[column]}: ${data.texts[row][column] || 0}`;
  found.setAttribute("aria-label", found.title);
  found.setAttribute("aria-selected", String(data.chosen?.[0] === row && data.chosen?.[1] === column));
  found.style.setProperty("--nvm-shade", String(shade ?? 0));
  found.classList.toggle("nvm-same", shade === null);
  // From there on the colour of the text changes: its contrast is at least 4.5 in both themes.
  found.classList.toggle("nvm-strong", (shade ?? 0) > 0.55);
  found.classList.toggle("nvm-full", (shade ?? 0) > 0.85);
  return found;
}

function element(name, className) {
  const found = document.createElement(name);
  if (className) found.className = className;
  return found;
}
