// The links to all pages, in groups with a heading. They carry the view that the address has when they are used.

export default function (component) {
  const { data, parentElement } = component;
  keepHistoryShort();
  const names = JSON.stringify(data.groups);
  let navigation = /** @type {HTMLElement | null} */ (parentElement.querySelector(":scope > .nvn"));
  // The links stay where they are and keep the focus: on another page another one is current.
  if (navigation?.dataset.names !== names) {
    const drawn = drawNavigation(data.groups);
    drawn.dataset.names = names;
    if (navigation) navigation.replaceWith(drawn);
    else parentElement.append(drawn, drawVersion(data.version));
    navigation = drawn;
  }
  for (const link of navigation.querySelectorAll("a")) {
    if (link.dataset.page === data.current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function drawNavigation(groups) {
  const navigation = document.createElement("nav");
  navigation.className = "nvn";
  navigation.setAttribute("aria-label", "Pages");
  for (const [heading, links] of groups) {
    const list = document.createElement("ul");
    if (heading) {
      const title = document.createElement("p");
      title.append(heading);
      list.setAttribute("aria-label", heading);
      navigation.append(title);
    }
    for (const [name, icon, path] of links) {
      const link = pageLink(name, path, () => goTo(path + location.search));
      link.dataset.page = name;
      link.prepend(drawIcon(icon));
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    navigation.append(list);
  }
  // For whoever opens a link in another tab.
  for (const event of ["pointerover", "focusin"]) {
    navigation.addEventListener(event, () => {
      for (const link of navigation.querySelectorAll("a")) link.search = location.search;
    });
  }
  return navigation;
}

function drawVersion(text) {
  const version = document.createElement("p");
  version.className = "nvn-version";
  version.append(text);
  return version;
}

function drawIcon(name) {
  const icon = document.createElement("span");
  icon.className = "nvn-icon";
  icon.translate = false;
  icon.setAttribute("aria-hidden", "true");
  icon.append(name);
  return icon;
}
