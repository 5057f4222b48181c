// Goes to the entry that the address names, as browsers do only for what is there when a page is loaded.

export default function () {
  const go = () => {
    document.querySelector(".nvg-found")?.classList.remove("nvg-found");
    const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!entry?.closest(".nvg")) return;
    entry.classList.add("nvg-found");
    const example = entry.querySelector("details");
    if (example) example.open = true;
    const folded = entry.closest("details");
    if (folded) folded.open = true;
    entry.scrollIntoView({ block: "start" });
  };
  // Once the page above has its height.
  const timer = setTimeout(go, 300);
  window.addEventListener("hashchange", go);
  return () => {
    clearTimeout(timer);
    window.removeEventListener("hashchange", go);
  };
}
