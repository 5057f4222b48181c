// The facets of the queue: values with counts. A click narrows the records down, a second one takes it back.

const VALUES_SHOWN = 6; // values of a facet before "more"
const WIDE = matchMedia("(min-width: 1300px)");

WIDE.addEventListener("change", ({ matches }) => {
  for (const box of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.nf"))) box.open = matches;
});

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const view = (parentElement.nerevalFacets ??= {
    state: newEvents(newMount()), unfolded: new Set(), isOpen: WIDE.matches,
  });
  view.setStateValue = setStateValue;
  view.tell = (act, facet, value) => {
    const before = view.state;
    view.state = withEvent(before, { act, facet, value });
    sendNew(view, before, 0);
  };
  view.state = { ...view.state, events: unacknowledged(view.state, data) };
  const text = JSON.stringify([data.facets, data.chosen]);
  if (view.drawn === text) return;
  view.drawn = text;
  drawFacets(view, data, parentElement);
}

function drawFacets(view, data, parentElement) {
  const focus = (/** @type {HTMLElement} */ (document.activeElement))?.dataset?.facet;
  const box = make("details", "nf");
  box.open = WIDE.matches || view.isOpen;
  box.addEventListener("toggle", () => (view.isOpen = box.open));
  const number = data.chosen ? ` ${data.chosen}` : "";
  const groups = make("div", "nf-groups");
  groups.append(...data.facets.map((facet) => facetGroup(view, data, facet, parentElement)));
  const summary = make("summary", "", `Filters${number}`);
  // On a telephone the search is folded with them.
  summary.prepend(make("span", "nf-search", "Search · "));
  box.append(summary, groups);
  parentElement.querySelector(":scope > .nf")?.remove();
  parentElement.append(box);
  if (focus) [...box.querySelectorAll("[data-facet]")].find((item) => item.dataset.facet === focus)?.focus();
}

function facetGroup(view, data, facet, parentElement) {
  const group = make("fieldset", "nf-group");
  const title = make("legend", "", facet.label);
  title.title = facet.help || facet.label;
  group.append(title);
  if (facet.systems) group.append(...comparison(view, facet));
  const isUnfolded = view.unfolded.has(facet.name);
  const shown = isUnfolded ? facet.values : facet.values.filter(([value], place) => place < VALUES_SHOWN || value === facet.on);
  group.append(...shown.map((row) => facetValue(view, facet, row)));
  const hidden = facet.values.length - shown.length;
  if (hidden || isUnfolded) {
    const more = make("button", "nf-more", isUnfolded ? "fewer" : `${hidden} more`);
    more.type = "button";
    more.dataset.facet = `${facet.name} more`;
    more.addEventListener("click", () => {
      if (isUnfolded) view.unfolded.delete(facet.name);
      else view.unfolded.add(facet.name);
      drawFacets(view, data, parentElement);
    });
    group.append(more);
  }
  if (facet.free) group.append(freeValue(view, facet));
  return group;
}

function facetValue(view, facet, [value, label, number]) {
  const isOn = value === facet.on;
  const item = make("button", "nf-value");
  item.type = "button";
  item.dataset.facet = `${facet.name} ${value}`;
  item.setAttribute("aria-pressed", String(isOn));
  item.title = isOn ? `${label}: no longer only these` : label;
  const name = make("bdi", "");
  // A name that wraps wraps where its parts end.
  for (const part of label.split(/(?<=[\p{L}\p{N}][./_-])/u)) name.append(part, make("wbr"));
  item.append(name, make("span", "nf-number", isOn ? `${number.toLocaleString()} ×` : number.toLocaleString()));
  item.addEventListener("click", () => view.tell("narrow", facet.name, isOn ? null : value));
  return item;
}

// Which other system, and a button that counts: it looks at all records of both.
function comparison(view, facet) {
  if (facet.note) return [make("div", "nf-note", facet.note)];
  const parts = [];
  if (facet.systems.length > 1) {
    const box = make("select", "nf-system");
    box.setAttribute("aria-label", "Other system");
    for (const name of facet.systems) box.append(new Option(nameText(name), name, false, name === facet.system));
    box.addEventListener("change", () => view.tell("compare", facet.name, box.value));
    parts.push(box);
  }
  if (!facet.counted) {
    const count = make("button", "nf-more", "who is right?");
    count.type = "button";
    count.dataset.facet = "against count";
    count.addEventListener("click", () => view.tell("compare", facet.name, null));
    parts.push(count);
  }
  return parts;
}

function freeValue(view, facet) {
  const field = make("input", "nf-free");
  field.type = "text";
  field.placeholder = "another…";
  field.setAttribute("aria-label", `${facet.label}: another one`);
  field.addEventListener("change", () => field.value.trim() && view.tell("narrow", facet.name, field.value.trim()));
  return field;
}
