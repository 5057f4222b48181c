"""How long the app takes from a click to the changed page, at a million spans, beside a page that does nothing.

Both run at the same time, each in a server of its own, in one browser; what is compared are medians of neighbouring
clicks. What a page computes in Python is measured in this process, without Streamlit.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nereval_core.corpus import Corpus, Documents, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.ledger import Ledger, ledger
from nereval_core.readers import Source
from nereval_core.records.queries import FACETS, Query
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from nereval_core.store import Store, StoredCorpus, fingerprints
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.highlighted_text import text_data
from tests.benchmarks.generated import STRIDE, TYPES, generate
from tests.benchmarks.scales import Scale
from tests.support.browser import Visit, serve_app_process, start_browser

SPANS, BY_DOCUMENT = 1_000_000, 10
CLICKS = 20
TRIVIAL = """
import streamlit as st
st.session_state.clicks = st.session_state.get("clicks", 0) + 1
st.title("Trivial")
st.button("Click")
with st.container(key=f"run-{st.session_state.clicks}"):
    st.caption(f"{st.session_state.clicks}")
"""
WATCH = """
() => {
  const runs = () => Math.max(0, ...[...document.querySelectorAll("[class*='st-key-run-']")]
    .map(e => +/st-key-run-(\\d+)/.exec(e.className)[1]));
  const busy = () => document.querySelector("[data-testid='stApp'][data-test-script-state='running']")
    || document.querySelector("[data-stale='true']");
  const seen = (window.nereval = { from: null, to: null });
  for (const event of ["pointerdown", "keydown"])
    addEventListener(event, () => { seen.from = performance.now(); }, true);
  // With `shown` the time ends when its value has changed, else when the page has run and rests.
  seen.arm = (shown) => {
    const value = shown ?? runs;
    const before = value();
    seen.from = seen.to = null;
    const look = () => {
      if (seen.from !== null && value() !== before && (shown || !busy())) seen.to = performance.now();
      else requestAnimationFrame(look);
    };
    look();
  };
}
"""


def corpus(spans: int, types: int = TYPES) -> Corpus:
    """Draw documents without tokens, of words of chance, with gold and the predictions of one system."""
    drawn = generate(spans, by_document=BY_DOCUMENT)
    size = BY_DOCUMENT * STRIDE
    letters = np.frombuffer(b"etaoinshrdlu    ", np.uint8)
    data = letters[np.random.default_rng(1).integers(0, len(letters), drawn.documents * size)]
    texts = Texts(data, np.arange(drawn.documents + 1, dtype=np.int64) * size)
    documents = Documents(tuple(f"doc-{number:06}" for number in range(drawn.documents)), texts)
    names = tuple(f"T{code:02}" for code in range(types))
    # Where there are more types than those drawn, each of these is divided by document; where fewer, several are one.
    parts = -(-types // TYPES)
    gold, system = (
        Layer(
            name,
            documents,
            side.doc,
            side.start,
            side.end,
            ((side.type * parts + side.doc % parts) % types).astype(np.int16),
            names,
        )
        for name, side in (("gold", drawn.gold), ("system", drawn.pred))
    )
    return Corpus("benchmark", documents, gold, (system,))


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(SPANS, SPANS // 10, 1_000)
    made = corpus(spans)
    with tempfile.TemporaryDirectory() as folder:
        keep(made, Path(folder))
        yield from computed(made)
        # At TINY each kind of click is made once, on the first page that has it.
        kinds = {action.click: action for action in reversed(ACTIONS)}
        actions = scale.of(ACTIONS, ACTIONS, tuple(kinds.values()))
        yield from clicked(made.digest, Path(folder), actions=actions, scale=scale)


def keep(made: Corpus, folder: Path) -> None:
    """Put a corpus into a store, as reading it would."""
    sources = {layer.name: Source.of_uploads([(f"{layer.name}.jsonl", b"{}")]) for layer in (made.gold, *made.systems)}
    account = [
        {
            "name": layer.name,
            "source": layer.name,
            "format": "jsonl",
            "scheme": "",
            "documents": len(made.documents),
            "spans": len(layer),
            "types": layer.types,
            "notes": (),
        }
        for layer in (made.gold, *made.systems)
    ]
    said = {"layers": account, "marks": {"system": []}, "start": "system", "description": "", "problems": []}
    said["options"] = {}
    Store(folder).put(StoredCorpus(made, said, sources, "0" * 64), fingerprints(sources))


def computed(made: Corpus) -> Iterator[tuple[str, float, str]]:
    """Yield the CPU milliseconds of what pages compute: medians, what is kept from run to run being there."""
    from nereval_core.report.score_tables import criterion_table, type_table
    from pages.shared.components.tables import ROWS, record_rows
    from pages.shared.inspect.document import read_document, start_of
    from pages.shared.view.confusion_layout import confusion_table

    settings = Settings(tuple(CRITERIA[name] for name in APPLICABLE if CRITERIA[name].unit == "span"))
    sides = (made.gold, made.systems[0])
    scores = score_layers(*sides, settings)
    records: list[Ledger] = []
    said = f"ms of CPU at {len(made.gold):,} spans:"
    yield f"{said} records of the first criterion", clock(lambda: records.append(ledger(scores, "strict", sides))), "–"
    yield f"{said} records of another criterion", clock(lambda: records.append(ledger(scores, "type", sides))), "–"
    kept, types = records[0], made.gold.types
    wrong = Query(decision=DECISIONS[1:])
    queries = [Query(decision=DECISIONS[1:], types=(kind,)) for kind in types]
    steps = iter(range(1, 10**6))

    def errors() -> None:
        query = queries[next(steps) % len(queries)]
        kept.total(query)
        for facet in FACETS:
            kept.facet_counts(query, facet, 1_000)
        record_rows(kept, kept.page(query, rows=ROWS), made.documents.texts)

    def overview() -> None:
        criterion_table("system", {"system": scores}, settings_names)
        type_table("system", {"system": scores}, "strict")
        kept.documents("", 200 * (next(steps) % 100))

    def documents() -> None:
        near = kept.near(wrong, made.documents.ids[next(steps) * 7 % len(made.documents)])
        doc, name = near.queue[3]
        there = read_document(lambda doc: kept.document(doc, settings), "strict", doc)
        record, _ = there.find(name)
        assert record is not None
        part = there.part_of(start_of(record))
        low, high = there.windows[part]
        text_data(there.text[low:high], there.marks_in(part), selected=name)
        there.card(record)

    settings_names = [criterion.name for criterion in settings.criteria]
    for what, run in (
        ("Overview", overview),
        ("Confusion", lambda: confusion_table(kept.confusion(), types, ())),
        ("Inspect, another type chosen", errors),
        ("Inspect, another part of the queue", lambda: kept.page(wrong, first=ROWS * (next(steps) % 100), rows=ROWS)),
        ("Inspect, another record", documents),
    ):
        run()
        yield f"{said} {what}", statistics.median(clock(run) for _ in range(15)), "<= 10"


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return 1_000 * (time.process_time() - start)


@contextmanager
def environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


PAGES = ("Overview", "Confusion", "Inspect", "Systems", "Criteria", "Annotators", "Review", "Present", "Guide")
"""The pages that every corpus has, in the order in which they are opened."""


def clicked(
    digest: str,
    folder: Path,
    *arguments: str,
    actions: Sequence[Action],
    scale: Scale,
    pages: Sequence[str] = PAGES,
) -> Iterator[tuple[str, float, str]]:
    """Yield seconds until pages settle, what clicks cost beside those on a trivial page, and the largest message.

    `arguments` are the app's, `pages` those that are opened by their link first, in a browser that has no files yet.
    """
    script = folder / "trivial.py"
    script.write_text(TRIVIAL)
    clicks = 1 if scale is Scale.TINY else CLICKS
    with ExitStack() as stack:
        stack.enter_context(environment(NEREVAL_CACHE=str(folder)))
        ours, our_server = stack.enter_context(serve_app_process(*arguments))
        theirs, their_server = stack.enter_context(serve_app_process(script=script))
        browser = stack.enter_context(start_browser())
        yield from cold(browser, theirs, ours, digest, pages)
        floor = Clicker(Visit(browser, theirs), their_server)
        floor.open("/")
        largest = 0
        trivial: list[Click] = []
        for action in actions:
            clicker = Clicker(Visit(browser, ours), our_server)
            clicker.open(f"/{action.page}?corpus={digest[:16]}{action.view}")
            own: list[Click] = []
            beside: list[Click] = []
            for number in range(clicks):
                action.ready(clicker.visit)
                own.append(clicker.click(partial(action.click, number=number), action.shown))
                beside.append(floor.click(lambda page: page.get_by_role("button", name="Click").click()))
            yield from costs(f"{action.what}, {action.page}", own, beside, action.most)
            trivial += beside
            largest = max(largest, clicker.largest)
            clicker.visit.close()
        floor.visit.close()
        for what, cost in COSTS.items():
            yield f"{what} a click, a trivial page", statistics.fmean(map(cost, trivial)), "–"
        yield "largest message to the browser, MB", largest / 1e6, "<= 1"


def cold(
    browser: Any, trivial: str, address: str, digest: str, pages: Sequence[str]
) -> Iterator[tuple[str, float, str]]:
    """Yield the seconds from following a link to a page that rests, the trivial page first; nobody was there before."""
    paths = {name: f"{address}/{name}?corpus={digest[:16]}" for name in pages}
    for name, path in {"a trivial page": trivial, **paths}.items():
        visit = Visit(browser, "")
        visit.go(path)
        seconds = visit.page.evaluate("performance.now()") / 1_000
        yield f"s from a cold link to a page at rest, {name}", seconds, "<= 3" if name in paths else "–"
        visit.close()


class Click(NamedTuple):
    """What one click took: milliseconds by the clock, of CPU in the page and in the server, messages and bytes."""

    wall: float
    page: float
    server: float
    messages: int
    size: int


COSTS: Mapping[str, Callable[[Click], float]] = {
    "ms by the clock": lambda click: click.wall,
    "ms of CPU in the browser": lambda click: click.page,
    "ms of CPU in the server": lambda click: click.server,
    "messages": lambda click: click.messages,
    "kB": lambda click: click.size / 1_000,
}


def costs(what: str, own: Sequence[Click], beside: Sequence[Click], most: float) -> Iterator[tuple[str, float, str]]:
    """Yield ratios of the first click and of all of them to those on a trivial page, and what a click costs."""
    floor = statistics.median(click.wall for click in beside)
    yield f"{what} / a trivial page", statistics.median(click.wall for click in own) / floor, f"<= {most}"
    yield f"{what}, the first time / a trivial page", own[0].wall / floor, "–"
    yield f"{what}, the fastest / the fastest", min(map(itemgetter(0), own)) / min(map(itemgetter(0), beside)), "–"
    for unit, cost in COSTS.items():
        yield f"{what}: {unit}", statistics.fmean(map(cost, own)), "–"


class Clicker:
    """A visit whose clicks are timed in the browser, and whose messages are weighed; `server` is a process."""

    def __init__(self, visit: Visit, server: int) -> None:
        self.visit = visit
        self.largest = self._messages = self._size = 0
        self._server = Path(f"/proc/{server}/stat")
        visit.page.on("websocket", lambda socket: socket.on("framereceived", self._weigh))
        self._metrics = visit.context.new_cdp_session(visit.page)
        self._metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def open(self, path: str) -> None:
        self.visit.go(path)
        self.visit.page.evaluate(WATCH)

    def _weigh(self, payload: Any) -> None:
        self.largest = max(self.largest, len(payload))
        self._messages += 1
        self._size += len(payload)

    def click(self, click: Callable[[Any], None], shown: str = "") -> Click:
        """Click and return what it took from the last key or button pressed to the page drawn anew, or to `shown`."""
        page = self.visit.page
        before = self.visit.run_count()
        page.evaluate(f"nereval.arm({shown})")
        costs = self._costs()
        click(page)
        page.wait_for_function("() => nereval.to !== null")
        if shown:
            self.visit.wait_until_drawn(before)
        # What the page draws after its last element is not to slow the next click.
        page.wait_for_timeout(150)
        spent = (after - earlier for after, earlier in zip(self._costs(), costs, strict=True))
        return Click(page.evaluate("nereval.to - nereval.from"), *spent)

    def _costs(self) -> tuple[float, float, int, int]:
        """Return milliseconds of CPU in the page and in the server, messages and bytes so far."""
        metrics = self._metrics.send("Performance.getMetrics")["metrics"]
        seconds = next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
        # In ticks, of threads that have ended too: each run of a page has a thread of its own.
        ticks = sum(map(int, self._server.read_text().rpartition(")")[2].split()[11:13]))
        return 1_000 * seconds, 1_000 * ticks / os.sysconf("SC_CLK_TCK"), self._messages, self._size


@dataclass(frozen=True)
class Action:
    """What is clicked on a page again and again, numbered; `ready` is done before each click and not timed.

    `shown` is a function in the page whose value changes once the reader sees what was asked for; without one that is
    when the page has run to its end.
    """

    what: str
    page: str
    click: Callable[[Any, int], None]
    ready: Callable[[Visit], None] = lambda visit: None
    view: str = ""
    shown: str = ""
    most: float = 2.0
    """The aim, in times a click on a trivial page."""


CHOSEN = ("type", "strict", "partial", "exact")


def choose_criterion(page: Any, number: int) -> None:
    page.get_by_role("radio", name=CHOSEN[number % len(CHOSEN)], exact=True).click()


def types_there(visit: Visit) -> None:
    if not visit.page.locator(".st-key-widget_type").is_visible():
        visit.open_menu("Types")
    visit.page.locator(".st-key-widget_type input").first.wait_for()
    visit.page.wait_for_timeout(300)


def choose_type(page: Any, number: int) -> None:
    """Choose a type, and the next time take it away again."""
    box = page.locator(".st-key-widget_type input").first
    if number % 2:
        box.press("Backspace")
        return
    # What is typed narrows the list down to the one that Enter then takes: no list has to stand still under a pointer.
    box.press_sequentially(f"T{number % 8:02}")
    page.get_by_role("option", name=f"T{number % 8:02}", exact=True).wait_for()
    box.press("Enter")


def choose_cell(page: Any, number: int) -> None:
    cells = page.get_by_role("gridcell")
    cells.nth(number % cells.count()).click()


def table_there(visit: Visit) -> None:
    # Before the first click the table may stand there and not be drawn yet.
    visit.page.get_by_test_id("stDataFrame").first.locator("canvas").first.wait_for()
    visit.page.wait_for_timeout(300)


def map_there(visit: Visit) -> None:
    visit.page.get_by_role("gridcell").first.wait_for()
    visit.page.wait_for_timeout(300)


def text_there(visit: Visit) -> None:
    visit.page.locator(".nv-reader").first.wait_for()
    visit.page.wait_for_timeout(300)


def next_record(page: Any, number: int) -> None:
    page.keyboard.press("j")


# The number of the open record, once its text is there too.
RECORD_SHOWN = """() => document.querySelector(".nw-late")
    ? nereval.shown
    : (nereval.shown = document.querySelector(".nw-entry[aria-current]")?.dataset.at)"""
RECORDS = "&inspect_tab=records"
ACTIONS = (
    *(Action("change the criterion", name, choose_criterion) for name in ("Overview", "Confusion")),
    Action("change the criterion", "Inspect", choose_criterion, view=RECORDS),
    Action("filter by a type", "Overview", choose_type, types_there),
    Action("filter by a type", "Inspect", choose_type, types_there, view=RECORDS),
    Action("click a confusion cell", "Confusion", choose_cell, map_there),
    Action("next record", "Inspect", next_record, text_there, view=RECORDS, shown=RECORD_SHOWN, most=1.0),
)
