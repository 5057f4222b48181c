// The keys of Inspect that every tab has, and the sheet that shows all keys, made from the tables that wire them.

const SEARCH_BOX = ".st-key-widget_q input";
const PAGE_KEYS = [
  ["/", () => focusSearch(), "search"],
  ["?", (rows) => toggleKeySheet(rows), "show or hide all keys"],
];

// Do what a key of the page does; `rows` are the rows of the table of the tab, each with a key first and words last.
function pressPageKey(event, rows) {
  const row = PAGE_KEYS.find(([key]) => key === event.key);
  if (!row) return false;
  row[1](rows);
  event.preventDefault();
  return true;
}

// Enter applies a search, Escape leaves what is applied as it is: the keys that follow are for the queue.
function leaveSearch(event) {
  const box = event.target.closest?.(SEARCH_BOX);
  if (!box || event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return false;
  // What the box is left with is applied.
  if (event.key === "Escape") restoreSearch(box);
  event.preventDefault();
  box.blur();
  document.querySelector(".nw-entry[aria-current]")?.focus({ preventScroll: true });
  return true;
}

// The frame of the page sees a value only where it is set as by typing.
function restoreSearch(box) {
  if (box.value === (box.nerevalApplied ?? "")) return;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, box.nerevalApplied ?? "");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function rememberSearch({ target }) {
  const box = target.closest?.(SEARCH_BOX);
  if (box) box.nerevalApplied = box.value;
}

function focusSearch() {
  const box = document.querySelector(SEARCH_BOX);
  box?.focus();
  box?.select();
}

function toggleKeySheet(rows) {
  const open = document.querySelector(".nk-sheet");
  if (open) return open.close();
  const sheet = make("dialog", "nk-sheet");
  sheet.setAttribute("aria-label", "Keys");
  const list = make("dl", "nk-keys");
  for (const [key, ...rest] of [...rows, ...PAGE_KEYS, ["Esc", "close this"]]) {
    const term = make("dt");
    term.append(make("kbd", "", key.length === 1 ? key.toUpperCase() : key));
    list.append(term, make("dd", "", rest.at(-1)));
  }
  const close = make("button", "nk-close", "Close");
  close.type = "button";
  close.addEventListener("click", () => sheet.close());
  sheet.append(make("strong", "", "Keys"), list, close);
  sheet.addEventListener("close", () => sheet.remove());
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  sheet.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "?") sheet.close();
  });
  // Within the component, whose colours are those of the page.
  (document.querySelector(".nw, .np") ?? document.body).append(sheet);
  sheet.showModal();
}
