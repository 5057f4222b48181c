// Brings an element of the page into view once, and gives it the focus, so that it is read out too.

const PATIENCE = { tries: 20, between: 150 }; // it may be drawn after this; milliseconds

export default function ({ data }) {
  const seen = (globalThis.nerevalIntoView ??= new Set());
  if (seen.has(data.token)) return;
  seen.add(data.token);
  let left = PATIENCE.tries;
  const bring = () => {
    const element = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-${data.key}`));
    if (element) {
      element.tabIndex = -1;
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "center" });
    } else if (left--) setTimeout(bring, PATIENCE.between);
  };
  // Once the page above has its height.
  setTimeout(bring, 2 * PATIENCE.between);
}
