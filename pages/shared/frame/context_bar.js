// The head of a page: the context bar, the title, and beside it the button of what the page exports. It is mounted in
// three parts, which share this module: the head itself, what tells the server which menu is open, and the page's end.

const page = { head: null, exports: false };
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export default function (component) {
  const { data, setStateValue } = component;
  if (data.part === "head") return mountHead(component);
  if (data.part === "end") endPage(component);
  return opensMenus(data.part, setStateValue);
}

function mountHead({ data, parentElement, setStateValue }) {
  const view = (page.head = parentElement.nerevalHead ??= newHead(parentElement));
  view.setStateValue = setStateValue;
  view.data = data;
  view.state = { ...view.state, events: unacknowledged(view.state, data) };
  drawHead(view);
  return () => {
    stopSending(view);
    if (page.head === view) page.head = null;
  };
}

// The last element of a page: it names the run that has drawn all.
function endPage({ data, parentElement }) {
  let mark = parentElement.querySelector(":scope > [hidden]");
  if (!mark) {
    mark = document.createElement("span");
    mark.hidden = true;
    parentElement.append(mark);
  }
  page.exports = data.exports;
  if (page.head) drawHead(page.head);
  mark.className = `st-key-run-${data.run}`;
}

function newHead(parentElement) {
  const root = document.createElement("div");
  root.className = "ncb-head";
  parentElement.append(root);
  const view = { root, data: null, state: newEvents(newMount()) };
  view.choose = (act, value) => {
    const before = view.state;
    view.state = withEvent(before, { act, value });
    sendNew(view, before, 0);
    drawHead(view);
  };
  root.addEventListener("change", (event) => {
    const list = /** @type {HTMLSelectElement} */ (event.target);
    view.choose(list.dataset.act, listIn(view, list).options[list.selectedIndex][0]);
  });
  root.addEventListener("click", (event) => clickHead(view, event));
  root.addEventListener("keydown", (event) => pressOnRadio(view, event));
  return view;
}

function clickHead(view, event) {
  const target = event.target.closest("button, a");
  if (!target || target.matches("[aria-checked='true']")) return;
  if (target.matches("a")) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    goTo(target.getAttribute("href"));
  } else if (target.dataset.menu) toggleMenu(target.dataset.menu);
  else view.choose(target.dataset.act, target.dataset.value);
}

function pressOnRadio(view, event) {
  const radio = event.target.closest("[role='radio']");
  if (!radio || !ARROWS[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  const radios = [...radio.parentElement.children];
  const number = (radios.indexOf(radio) + ARROWS[event.key] + radios.length) % radios.length;
  view.choose(radio.dataset.act, radios[number].dataset.value);
  // The chosen one alone has room on a narrow screen.
  radios[number].focus();
}

// What the reader has chosen and the server has not said yet.
const chosenIn = (view, act, value) => view.state.events.findLast((event) => event.act === act)?.value ?? value;

const listIn = (view, list) => view.data.bar.layers.find(({ act }) => act === list.dataset.act);

function drawHead(view) {
  const { bar, title } = view.data;
  const drawn = document.createElement("div");
  drawn.className = "ncb-head";
  if (bar) drawn.append(drawBar(view, bar));
  const row = element("div", "ncb-title");
  row.append(element("h1", "st-key-title_row", title));
  if (page.exports) row.append(menuButton("export", "Export", "Figures, tables and methods of this page", "ncb-plain"));
  drawn.append(row);
  view.root = morph(view.root, drawn);
  // What a list shows is no attribute of it.
  for (const list of view.root.querySelectorAll("select")) {
    const { act, chosen, options } = listIn(view, list);
    const name = chosenIn(view, act, chosen);
    list.selectedIndex = options.findIndex(([value]) => value === name);
  }
}

function drawBar(view, bar) {
  const drawn = element("div", "ncb");
  const corpus = /** @type {HTMLAnchorElement} */ (element("a", "nv-link ncb-corpus"));
  corpus.href = bar.corpus.href;
  corpus.title = bar.corpus.help;
  corpus.append(icon("folder_open"), element("span", "ncb-name", bar.corpus.text));
  drawn.append(corpus, ...bar.layers.map(drawLayer), drawCriteria(view, bar));
  if (bar.layers.some(({ act }) => act === "reference")) drawn.classList.add("ncb-referenced");
  drawn.append(...bar.menus.map(([name, text, help]) => menuButton(name, text, help)));
  return drawn;
}

function drawLayer({ act, label, options, width, text, name, swap }) {
  if (text) return element("span", "ncb-text", text);
  if (name) return element("strong", "ncb-text", name);
  if (swap) {
    const button = element("button", "ncb-plain", "⇄");
    Object.assign(button, { type: "button", title: swap });
    button.dataset.act = "swap";
    button.setAttribute("aria-label", "Swap reference and annotator");
    return button;
  }
  const list = element("select", `ncb-${act}`);
  list.setAttribute("aria-label", label);
  list.dataset.act = act;
  list.style.width = `${width}px`;
  // By their place: a name may not be what it looks like.
  for (const [, words, whole] of options) {
    const option = element("option", "", words);
    option.title = whole;
    list.append(option);
  }
  return list;
}

function drawCriteria(view, { criteria, criterion }) {
  const group = element("div", "ncb-criteria");
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", "Matching criterion");
  const chosen = chosenIn(view, "criterion", criterion);
  criteria.forEach((name, number) => {
    const radio = element("button", "", name);
    Object.assign(radio, { type: "button", tabIndex: name === chosen || (!number && !criteria.includes(chosen)) ? 0 : -1 });
    Object.assign(radio.dataset, { act: "criterion", value: name });
    radio.setAttribute("role", "radio");
    radio.setAttribute("aria-checked", String(name === chosen));
    group.append(radio);
  });
  return group;
}

function menuButton(name, text, help, kind = "") {
  const button = element("button", `ncb-menu ${kind}`, "");
  Object.assign(button, { type: "button", title: help });
  button.dataset.menu = name;
  button.setAttribute("aria-haspopup", "dialog");
  setExpanded(button);
  button.append(element("span", "ncb-name", text), icon("expand_more"));
  return button;
}

function element(name, kind, text = "") {
  const drawn = document.createElement(name);
  if (kind) drawn.className = kind;
  if (text) drawn.append(text);
  return drawn;
}

function icon(name) {
  const drawn = element("span", "ncb-icon", name);
  drawn.translate = false;
  drawn.setAttribute("aria-hidden", "true");
  return drawn;
}
