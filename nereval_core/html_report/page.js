"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const PAPER = 680; // pixels of a line on A4 between the margins of the style sheet
  const NARROW = 560;
  const ink = (printed) => (dark.matches && !printed ? "#fafafa" : "#1a1a1a");
  const look = (printed) => ({
    "font.color": ink(printed),
    "hoverlabel.bgcolor": dark.matches && !printed ? "#2d2b27" : "#ffffff",
    "hoverlabel.font.color": ink(printed),
  });
  const PREFIX = "#show=";
  const ask = (asked, number) => {
    location.hash = PREFIX + encodeURIComponent(asked.split(" ").join(",") + "/" + number);
  };
  for (const plot of plots) {
    const { data, layout } = JSON.parse(document.getElementById(plot.id + "-data").textContent);
    Plotly.newPlot(plot, data, layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtons: [["toImage"]],
      toImageButtonOptions: { format: "svg", filename: plot.id },
    });
    Plotly.relayout(plot, look(false));
    // On a phone there is no room beside bars; what they say stands in the table below.
    const bars = data.map((trace, number) => (trace.type === "bar" ? number : -1)).filter((number) => number >= 0);
    if (bars.length && plot.clientWidth < NARROW) Plotly.restyle(plot, { textposition: "none" }, bars);
    plot.on("plotly_click", ({ points }) => {
      const [asked, number] = points[0].customdata || [];
      if (asked && document.querySelector("article")) ask(asked, number);
    });
  }
  dark.addEventListener("change", () => plots.forEach((plot) => Plotly.relayout(plot, look(false))));
  addEventListener("beforeprint", () =>
    plots.forEach((plot) => Plotly.relayout(plot, { ...look(true), width: PAPER, autosize: false })));
  addEventListener("afterprint", () =>
    plots.forEach((plot) => Plotly.relayout(plot, { ...look(false), width: null, autosize: true })));

  // Numbers lead to the records they count: the others are hidden until all are asked for again.
  const records = [...document.querySelectorAll("article")];
  const marks = new Map(records.map((record) => [record, new Set(record.dataset.marks.split(" "))]));
  const status = document.getElementById("status");
  const head = document.getElementById("h-records");
  if (!status || !head) return;
  function show(asked, number) {
    const wanted = asked.filter((word) => word).map((word) => word.split("|"));
    let shown = 0;
    for (const record of records) {
      record.hidden = !wanted.every((words) => words.some((word) => marks.get(record).has(word)));
      shown += record.hidden ? 0 : 1;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("article:not([hidden])");
    }
    status.hidden = !wanted.length;
    const of = Number(number).toLocaleString("en");
    status.firstElementChild.textContent =
      shown === Number(number) ? `These are the ${of} records counted there.` : `${shown} of the ${of} counted there are in this report.`;
  }
  function follow(jump) {
    const [asked, number] = location.hash.startsWith(PREFIX)
      ? decodeURIComponent(location.hash.slice(PREFIX.length)).split("/")
      : ["", "0"];
    show(asked.split(","), number);
    if (jump && asked) {
      head.scrollIntoView();
      head.focus({ preventScroll: true });
    }
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-asked]");
    if (!link) return;
    event.preventDefault();
    ask(link.dataset.asked, link.dataset.all);
  });
  status.querySelector("button").addEventListener("click", () => {
    location.hash = "#records";
  });
  addEventListener("hashchange", () => follow(true));
  follow(true);
})();
