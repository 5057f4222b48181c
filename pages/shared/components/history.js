// What the browser's Back leads to. Streamlit adds an entry to the history whenever the address changes: for each record
// that is gone through, and for what a page adds to the address by itself once it is open. Here a choice of the reader
// adds one, which Back takes back.

const WITHOUT_ENTRY = ["doc", "record", "at"]; // parameters of which a change is not a choice

// Whether an address of the same page is another choice than the one before, and not another record.
function isOtherChoice(before, after) {
  const choices = [before, after].map(({ search }) => {
    const parameters = new URLSearchParams(search);
    for (const name of WITHOUT_ENTRY) parameters.delete(name);
    parameters.sort();
    return String(parameters);
  });
  return choices[0] !== choices[1];
}

// Whether an address says nothing that another one does not say.
function isPartOf(address, whole) {
  const parameters = new URLSearchParams(whole.search);
  const isIn = ([name, value]) => parameters.get(name) === value;
  return address.pathname === whole.pathname && [...new URLSearchParams(address.search)].every(isIn);
}

// Once a tab: the history outlives the components of a page.
function keepHistoryShort() {
  if (globalThis.nerevalHistory) return;
  // Whether the reader has clicked or typed since the last entry: what changes without that is no choice.
  const seen = (globalThis.nerevalHistory = { hasActed: false, chosen: "" });
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => (seen.hasActed = true), true);
  // What a page adds to the address that it was loaded by is an entry before any script of ours runs: Back leads on from
  // the one before it.
  const [loaded] = performance.getEntriesByType("navigation");
  const added = loaded && loaded.name !== location.href && isPartOf(new URL(loaded.name), location) ? loaded.name : null;
  addEventListener("popstate", () => {
    seen.hasActed = false;
    if (location.href === added) history.back();
  }, true);
  const push = history.pushState;
  history.pushState = function (state, title, address) {
    const after = new URL(String(address ?? ""), location.href);
    const isPage = after.pathname !== location.pathname;
    // What a page leads on with stands in its own address for a moment: that is no choice, and Back passes it over.
    const isOnTheWay = isPage && !seen.hasActed && seen.chosen === location.href && after.search === location.search;
    const isEntry = !isOnTheWay && (isPage || (seen.hasActed && isOtherChoice(location, after)));
    if (isEntry) Object.assign(seen, { hasActed: false, chosen: isPage ? "" : after.href });
    return isEntry ? push.call(this, state, title, address) : this.replaceState(state, title, address);
  };
}
