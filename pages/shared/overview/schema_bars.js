// A bar a criterion or a type, its segments as long as their counts, F1 at the end, and where a row has a dot F1 with
// its interval on a line from 0 to 1. Each segment and each F1 is a button. A heading and notes stand around them: here they
// cost the browser less than as elements of Streamlit. Every string goes in as textContent or an attribute.

export default function (component) {
  const { data, parentElement } = component;
  const memory = (parentElement.nerevalBars ??= {});
  const held = parentElement.querySelector(":scope > .nvb");
  memory.setTriggerValue = component.setTriggerValue;
  const drawn = JSON.stringify(data);
  if (held && memory.drawn === drawn) return;
  memory.drawn = drawn;
  const focused = held?.contains(document.activeElement) ? (/** @type {HTMLElement} */ (document.activeElement)).dataset.at : null;
  const root = make("div", "nvb");
  root.classList.toggle("nvb-long", Boolean(data.axis));
  const write = (name) => data[name] && root.append(make("p", `nvb-${name}`, data[name]));
  ["heading", "about"].forEach(write);
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
    const track = "dot" in row ? [drawTrack(row.dot)] : [];
    line.classList.toggle("nvb-typed", track.length > 0);
    line.append(name, ...track, bar, button(row.f1, row.title, [number, "F1"]));
    root.append(line);
  });
  if (data.axis) {
    const [line, axis] = [make("div", "nvb-row nvb-typed nvb-axis"), make("div", "nvb-scale")];
    axis.append(...["0", data.axis, "1"].map((text) => make("span", "", text)));
    line.append(make("span"), axis);
    root.append(line);
  }
  const legend = make("div", "nvb-legend");
  legend.append(...data.legend.map((text) => make("span", "", text)));
  root.append(legend);
  write("hint");
  if (held) morph(held, root);
  else {
    root.addEventListener("click", ({ target }) => {
      const at = target instanceof Element && target.closest("button")?.dataset.at;
      if (at) memory.setTriggerValue("choose", JSON.parse(at));
    });
    parentElement.append(root);
  }
  // Of another criterion a bar may have other parts.
  const active = /** @type {HTMLElement} */ (document.activeElement);
  if (focused && active?.dataset.at !== focused) held.querySelector(`button[data-at='${focused}']`)?.focus();

  function button(text, title, at) {
    const found = make("button", "", text);
    found.type = "button";
    found.title = title;
    found.setAttribute("aria-label", title);
    found.dataset.at = JSON.stringify(at);
    return found;
  }
}

// F1 as a dot on a line from 0 to 1, with its interval where there is one; null for an F1 that is undefined.
function drawTrack(dot) {
  const track = make("div", "nvb-track");
  track.setAttribute("aria-hidden", "true");
  if (!dot) return track;
  track.style.setProperty("--nvb-hue", dot.hue);
  if ("low" in dot) {
    const interval = make("span", "nvb-interval");
    Object.assign(interval.style, { left: `${100 * dot.low}%`, width: `${100 * (dot.high - dot.low)}%` });
    track.append(interval);
  }
  const point = make("span", "nvb-dot");
  point.style.left = `${100 * dot.at}%`;
  track.append(point);
  return track;
}

function make(name, className, text = "") {
  const found = document.createElement(name);
  if (className) found.className = className;
  found.textContent = text;
  return found;
}
