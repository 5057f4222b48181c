// The menus of the head. A button opens one; Streamlit draws what is in it, in a container that lies under the button.
// One is open at a time. It closes by Escape, by its button, and by a click elsewhere on the page.

const CONTENT = ".st-key-bar_open_";
const EDGE = 8; // pixels between a menu and the edge of the window
// The open menu, and what tells the server: each part of the head opens some menus, see `opensMenus`.
const menus = { open: "", tell: {} };
const partOf = (name) => (name === "export" ? "end" : "menus");
const buttonOf = (name) => /** @type {HTMLElement} */ (document.querySelector(`button[data-menu="${name}"]`));
const contentOf = (name) => /** @type {HTMLElement} */ (document.querySelector(CONTENT + name));

// Have a part of the head open its menus for as long as it is mounted; return what ends that.
function opensMenus(part, setStateValue) {
  const isNew = !menus.tell[part];
  const tell = (menus.tell[part] = (name) => setStateValue("open", name));
  if (menus.open && partOf(menus.open) === part) {
    if (isNew) tell(menus.open);
    whenDrawn(menus.open, (content) => place(menus.open, content));
  }
  return () => {
    if (menus.tell[part] !== tell) return;
    delete menus.tell[part];
    if (partOf(menus.open) === part) show("");
  };
}

// Open a menu, "" for none; the reader goes into it, or with `back` to the button of the one that closes.
function show(name, back = false) {
  const before = menus.open;
  if (name === before) return;
  menus.open = name;
  if (before) {
    // At once: the server takes it away.
    contentOf(before)?.removeAttribute("role");
    if (back) buttonOf(before)?.focus();
  }
  const part = partOf(name || before);
  menus.tell[part]?.(name);
  // Told at once, Streamlit would take it as meant for the same part of the page.
  if (before && partOf(before) !== part) setTimeout(() => menus.tell[partOf(before)]?.(""));
  for (const button of document.querySelectorAll("button[data-menu]")) setExpanded(button);
  if (name) {
    whenDrawn(name, (content) => {
      place(name, content);
      content.focus({ preventScroll: true });
    });
  }
}

const setExpanded = (button) => button.setAttribute("aria-expanded", String(button.dataset.menu === menus.open));

// Once what the server has drawn is there, unless another menu is open by then.
function whenDrawn(name, then) {
  if (menus.open !== name) return;
  const content = contentOf(name);
  if (content) then(content);
  else requestAnimationFrame(() => whenDrawn(name, then));
}

function place(name, content) {
  const button = buttonOf(name);
  if (!button) return;
  content.tabIndex = -1;
  // It is in sight from here on.
  content.setAttribute("role", "dialog");
  content.setAttribute("aria-label", button.firstElementChild.textContent);
  const { left, bottom } = button.getBoundingClientRect();
  const room = document.documentElement.clientWidth - content.offsetWidth - EDGE;
  content.style.setProperty("--nvm-left", `${Math.max(EDGE, Math.min(left, room))}px`);
  content.style.setProperty("--nvm-top", `${Math.max(EDGE, bottom + 4)}px`);
}

const placeOpen = () => menus.open && contentOf(menus.open) && place(menus.open, contentOf(menus.open));

function toggleMenu(name) {
  if (menus.open === name) show("", true);
  else show(name);
}

addEventListener("resize", placeOpen);
document.addEventListener("pointerdown", ({ target }) => {
  const clicked = /** @type {Element} */ (target);
  // Lists that belong to a menu lie elsewhere.
  const isOnPage = clicked.closest("[data-testid='stMain'], [data-testid='stSidebar'], [data-testid='stHeader']");
  if (menus.open && isOnPage && !clicked.closest(`[class*="${CONTENT.slice(1)}"], button[data-menu]`)) show("");
}, true);
document.addEventListener("keydown", (event) => {
  const from = /** @type {Element} */ (event.target);
  // A list that is unfolded folds first.
  if (event.key !== "Escape" || !menus.open || from.closest("[aria-expanded='true']:not([data-menu])")) return;
  if (!from.closest(`[class*="${CONTENT.slice(1)}"], button[data-menu], body:focus`) && from !== document.body) return;
  event.stopPropagation();
  show("", true);
}, true);
