// Recent corpora as a table: a name opens its corpus, a share of decided records the list that was reviewed last. Enter
// opens the first row, unless a control of the page has the focus. Every string goes in as textContent or an attribute.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const focused = parentElement.contains(document.activeElement) ? (/** @type {HTMLElement} */ (document.activeElement)).dataset.place : null;
  parentElement.querySelector(":scope > .nvc")?.remove();
  const root = element("div", "nvc");
  const table = root.appendChild(element("table"));
  table.setAttribute("aria-label", data.label);
  const head = table.appendChild(element("thead")).appendChild(element("tr"));
  data.headings.forEach((heading, column) => {
    const cell = head.appendChild(element("th", data.right[column] ? "nvc-right" : "", heading));
    cell.scope = "col";
    if (data.meanings[column]) cell.title = data.meanings[column];
  });
  const body = table.appendChild(element("tbody"));
  data.rows.forEach((texts, row) => {
    const line = body.appendChild(element("tr", row === data.present ? "nvc-present" : ""));
    texts.forEach((text, column) => {
      const cell = line.appendChild(element(column ? "td" : "th", data.right[column] ? "nvc-right" : ""));
      if (!column) cell.scope = "row";
      if (!data.opens[row].includes(column)) {
        cell.textContent = text;
        return;
      }
      const button = cell.appendChild(element("button", "", text));
      button.type = "button";
      button.dir = "auto";
      button.dataset.place = `${row} ${column}`;
      button.title = column ? data.list_hints[row] : data.open_hint;
      if (column) button.setAttribute("aria-label", `${text}, ${data.list_hints[row]}`);
      button.addEventListener("click", () => setTriggerValue("open", [row, column]));
      if (!row && !column && data.present !== 0) cell.append(element("kbd", "", "Enter"));
    });
  });
  parentElement.append(root);
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus({ preventScroll: true });

  const press = (event) => {
    if (opensNewest(event, document)) root.querySelector("button")?.click();
  };
  // The function runs again after every rerun, its clean-up only at the end.
  parentElement.stopListening?.();
  document.addEventListener("keydown", press);
  parentElement.stopListening = () => document.removeEventListener("keydown", press);
  return parentElement.stopListening;
}

export function opensNewest(event, page) {
  const plain = event.key === "Enter" && !(event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
  return plain && !event.defaultPrevented && [null, page.body].includes(page.activeElement);
}

function element(name, style = "", text = "") {
  const node = document.createElement(name);
  if (style) node.className = style;
  if (text) node.textContent = text;
  return node;
}
