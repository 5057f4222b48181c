// A bar a criterion, its segments as long as their counts, F1 at the end. Each segment and each F1 is a button. Every
// string goes in as textContent or an attribute.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const held = parentElement.querySelector(":scope > .nvb");
  const focused = held?.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  const root = make("div", "nvb");
  data.rows.forEach((row, number) => {
    const line = make("div", "nvb-row");
    line.classList.toggle("nvb-chosen", row.chosen);
    const name = make("span", "", row.name);
    name.title = row.name;
    const bar = make("div", "nvb-bar");
    for (const part of row.parts) {
      const segment = button("", part.title, [number, part.code]);
      // What does not fit wraps to a second line, which is not shown: first the number goes, then the glyph.
      segment.append(make("span"), make("span", "", part.glyph), " ", make("span", "", part.count));
      segment.style.flex = `${part.size} 1 0`;
      ["light", "dark"].forEach((theme, place) => {
        segment.style.setProperty(`--nvb-fill-${theme}`, part.fill[place]);
        segment.style.setProperty(`--nvb-ink-${theme}`, part.ink[place]);
      });
      bar.append(segment);
    }
    line.append(name, bar, button(row.f1, `F1 under ${row.name}: its formula`, [number, "F1"]));
    root.append(line);
  });
  const legend = make("div", "nvb-legend");
  legend.append(...data.legend.map((text) => make("span", "", text)));
  root.append(legend);
  if (held) held.replaceWith(root);
  else parentElement.append(root);
  if (focused) root.querySelector(`button[data-at='${focused}']`)?.focus();

  function button(text, title, at) {
    const found = make("button", "", text);
    found.type = "button";
    found.title = title;
    found.setAttribute("aria-label", title);
    found.dataset.at = JSON.stringify(at);
    found.addEventListener("click", () => setTriggerValue("choose", at));
    return found;
  }
}

function make(name, className, text = "") {
  const found = document.createElement(name);
  if (className) found.className = className;
  found.textContent = text;
  return found;
}
