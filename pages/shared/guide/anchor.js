// Goes to the entry that the address names, as browsers do only for what is there when a page is loaded.

export default function () {
  const go = () => {
    document.querySelector(".nvg-found")?.classList.remove("nvg-found");
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!found?.closest(".nvg")) return;
    found.classList.add("nvg-found");
    const example = found.querySelector("details");
    if (example) example.open = true;
    const folded = found.closest("details");
    if (folded) folded.open = true;
    found.scrollIntoView({ block: "start" });
  };
  // Once the page above has its height.
  const timer = setTimeout(go, 300);
  window.addEventListener("hashchange", go);
  return () => {
    clearTimeout(timer);
    window.removeEventListener("hashchange", go);
  };
}
