(() => {
  const root = document.documentElement;
  const slides = [...document.querySelectorAll(".deck-slide")];
  const [blank, help, place] = ["deck-blank", "deck-help", "deck-bar output"].map((name) => document.querySelector("." + name));
  const buttons = Object.fromEntries([...document.querySelectorAll(".deck-bar button")].map((button) => [button.dataset.key, button]));
  const inAddress = () => Number(location.hash.slice(1)) - 1;
  let state = deckState(slides.length, inAddress(), matchMedia("(prefers-color-scheme: dark)").matches);

  function draw() {
    root.dataset.script = "";
    slides.forEach((slide, number) => slide.classList.toggle("deck-present", number === state.at));
    root.toggleAttribute("data-notes", state.notes);
    root.toggleAttribute("data-ratio", state.ratio);
    if (state.dark !== null) root.dataset.scheme = state.dark ? "dark" : "light";
    blank.hidden = !state.blank;
    help.hidden = !state.help;
    place.textContent = `${state.at + 1} of ${state.total}`;
    buttons.n.setAttribute("aria-pressed", state.notes);
    buttons["4"].setAttribute("aria-pressed", state.ratio);
    buttons["?"].setAttribute("aria-expanded", state.help);
    if (inAddress() !== state.at) history.replaceState(null, "", "#" + (state.at + 1));
  }
  function press(key, isShifted) {
    const next = pressDeckKey(state, key, isShifted);
    if (next === state) return false;
    const isMoved = next.at !== state.at;
    state = next;
    draw();
    if (isMoved) slides[state.at].focus({ preventScroll: true });
    if (state.act === "print") print();
    if (state.act === "fullscreen") document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.();
    return true;
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("a, button") && [" ", "Enter"].includes(event.key)) return;
    if (press(event.key, event.shiftKey)) event.preventDefault();
  });
  Object.entries(buttons).forEach(([key, button]) => button.addEventListener("click", () => press(key, false)));
  blank.addEventListener("click", () => press("b", false));
  addEventListener("hashchange", () => {
    state = { ...state, at: deckState(state.total, inAddress(), false).at };
    draw();
  });
  draw();
})();
