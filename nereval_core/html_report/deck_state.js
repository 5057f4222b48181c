// The state of a deck as plain data, and the function that returns the next one after a key. `deck.js` draws it.

const DECK_NEXT = ["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"];
const DECK_PREVIOUS = ["ArrowLeft", "ArrowUp", "PageUp", "Backspace"];

// `dark` and `ratio` are null as long as nobody has chosen: then the reader's theme and the whole window are shown.
function deckState(total, at, isDark) {
  return { total, at: Math.max(0, Math.min(total - 1, at || 0)), isDark, dark: null, ratio: false, notes: false, blank: false, help: false, act: null };
}

// Return the state after a key; the same state where the key means nothing. `act` is what only the browser can do.
function pressDeckKey(state, key, isShifted) {
  const still = { ...state, act: null };
  const goTo = (at) => ({ ...still, at: Math.max(0, Math.min(state.total - 1, at)), blank: false });
  if (key === " " && isShifted) return goTo(state.at - 1);
  if (DECK_NEXT.includes(key)) return goTo(state.at + 1);
  if (DECK_PREVIOUS.includes(key)) return goTo(state.at - 1);
  if (key === "Home") return goTo(0);
  if (key === "End") return goTo(state.total - 1);
  switch (key.toLowerCase()) {
    case "b":
    case ".":
      return { ...still, blank: !state.blank };
    case "n":
      return { ...still, notes: !state.notes };
    case "d":
      return { ...still, dark: !(state.dark ?? state.isDark) };
    case "4":
      return { ...still, ratio: !state.ratio };
    case "f":
      return { ...still, act: "fullscreen" };
    case "p":
      return { ...still, act: "print" };
    case "?":
      return { ...still, help: !state.help };
    case "escape":
      return state.blank || state.help ? { ...still, blank: false, help: false } : state;
  }
  return state;
}
