"""The view: the state of a page as data, of which each field is a parameter of the link. No Streamlit in here.

A field declares the codec by which its parameter is written and read (`pages.shared.view.codecs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from nereval_core.records.queries import ORDERS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.view.codecs import (
    CORPUS,
    MERGES,
    NAMES,
    PLACE,
    PLAYLIST,
    RECORD,
    SIDES,
    TEXT,
    Codec,
    one_of,
    some_of,
)

MASKED = "yes"
TABS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "overview_tab": ("by-slice", "all-criteria", "averages"),
        "slices_tab": ("scores", "worst-slices", "decades", "as-clef-hipe"),
        "inspect_tab": ("by-class",),
        "systems_tab": ("types-of-systems", "across-criteria", "all-pairs", "from-a-to-b"),
        "criteria_tab": ("two-criteria", "curve", "ladder", "recovered", "merging", "stand-in", "compose"),
        "annotators_tab": ("figures", "consistency"),
        "linking_tab": ("ids",),
        "review_tab": ("given-verdicts", "adjudicate", "take-along"),
    }
)
"""The tabs of each page by the field of the view, without the first one, for which the field is empty."""
SLICED_BY = (
    *("length", "tokens", "shape", "frequency", "consistency"),
    *("position", "document-length", "spans", "period", "noise"),
)
"""Slicings that a link can name."""
FIGURES = ("observed", "kappa", "alpha", "unitizing")
"""Figures that the matrix of annotators shows in place of F1."""
QUESTIONS = ("not-everywhere", "edges", "nesting", "odd-ends", "against-all")
"""Questions of Consistency beside forms with several types."""
LAYOUTS = (
    *("whole-document", "off-diagonal", "by-confusion", "all-criteria", "published", "gamma", "records-only"),
    *("overlapping", "any-link"),
)
"""Switches: Inspect shows a document without the queue; Confusion hides the diagonal, or orders types by confusion;
Systems and Review show all criteria; Criteria shows published scorers; Annotators shows gamma; slides show no figures;
Linking pairs overlapping mentions, or takes any of gold's links for true."""
FIGURE_SLIDES = ("scores", "confusion")
"""Slides that show a figure, not the title or a record."""
SLIDES = ("record", *FIGURE_SLIDES)
Value = TypeVar("Value")


def parameter(default: Value, codec: Codec[Value]) -> Value:
    """Declare a field of the view: its default, for which the link has no parameter, and its codec."""
    declared: Any = field(default=default, metadata={"codec": codec})
    return declared  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class View:
    """The state of a page: the corpus by content digest (or a prefix), its scoring, and the records that are listed.

    A corpus that its owner shares is named by its key.

    - `merge`: pairs of a type and the name that it is merged into; `leaveout`: types that are not scored.
    - `doc`: the document that lists are narrowed down to; if a `record` is chosen, the document of that record alone.
    - `beside`: a second system, which the first is held against; `versus`: a second criterion.
    - `rule`: the rule of a criterion of the user's own (`pages.shared.view.criterion_rules`), in links alone.
    - `reference`: the layer taken as gold; `annotators`: the layers that Annotators compares.
    - `mask`: MASKED if texts are masked.
    - `playlist`: the uid of the playlist that records are put on and that Present shows, and after a slash that of the
      record shown.
    - `slide`: the kind of slide that Present shows, empty outside a show; of `record`, without one, it is the title.
    - `at`: a place in the document, annotated or not, as `12-19`: code points, end exclusive.
    - `resample`: the units of resampling, in the words of `--resample-by`.
    - `share`: Confusion shows shares of the row or the column; `rank`: Linking looks at the first 3 or 5 links.
    - `..._tab`: the tab of a page, see TABS; a view that is carried from page to page has one for each.

    Empty fields stand for the default: first system by name, no second one, all but the correct records in lists, gold
    itself, texts as they are, each document resampled, the first tab.
    """

    corpus: str = parameter("", CORPUS)
    system: str = parameter("", TEXT)
    criterion: str = parameter("strict", TEXT)
    merge: tuple[tuple[str, str], ...] = parameter((), MERGES)
    leaveout: tuple[str, ...] = parameter((), NAMES)
    type: tuple[str, ...] = parameter((), NAMES)
    decision: tuple[str, ...] = parameter((), some_of(DECISIONS))
    gold: tuple[str, ...] = parameter((), SIDES)
    pred: tuple[str, ...] = parameter((), SIDES)
    doc: str = parameter("", TEXT)
    record: str = parameter("", RECORD)
    order: str = parameter(ORDERS[0], one_of(ORDERS))
    q: str = parameter("", TEXT)
    beside: str = parameter("", TEXT)
    versus: str = parameter("", TEXT)
    rule: str = parameter("", TEXT)
    reference: str = parameter("", TEXT)
    mask: str = parameter("", one_of((MASKED,), f"is not {MASKED}"))
    playlist: str = parameter("", PLAYLIST)
    slide: str = parameter("", one_of(SLIDES))
    annotators: tuple[str, ...] = parameter((), NAMES)
    at: str = parameter("", PLACE)
    resample: str = parameter("", TEXT)
    overview_tab: str = parameter("", one_of(TABS["overview_tab"]))
    slices_tab: str = parameter("", one_of(TABS["slices_tab"]))
    slice_by: str = parameter("", one_of(SLICED_BY))
    inspect_tab: str = parameter("", one_of(TABS["inspect_tab"]))
    systems_tab: str = parameter("", one_of(TABS["systems_tab"]))
    criteria_tab: str = parameter("", one_of(TABS["criteria_tab"]))
    annotators_tab: str = parameter("", one_of(TABS["annotators_tab"]))
    figure: str = parameter("", one_of(FIGURES))
    question: str = parameter("", one_of(QUESTIONS))
    linking_tab: str = parameter("", one_of(TABS["linking_tab"]))
    mentions: str = parameter("", one_of(("given",)))
    rank: str = parameter("", one_of(("3", "5")))
    review_tab: str = parameter("", one_of(TABS["review_tab"]))
    share: str = parameter("", one_of(("row", "column")))
    layout: tuple[str, ...] = parameter((), some_of(LAYOUTS))

    @property
    def place(self) -> tuple[int, int] | None:
        """The place in the document that is asked for, None without one."""
        low, _, high = self.at.partition("-")
        return (int(low), int(high)) if high else None

    def with_layout(self, word: str, on: bool = True) -> View:
        """Return the view with a switch of its layout turned on or off."""
        others = tuple(other for other in self.layout if other != word)
        return replace(self, layout=(*others, word) if on else others)

    def merged_groups(self) -> dict[str, list[str]]:
        """Return the types merged, by the name that they are merged into."""
        groups: dict[str, list[str]] = {}
        for member, name in self.merge:
            groups.setdefault(name, []).append(member)
        return groups

    def without_merge(self, name: str) -> View:
        """Return the view without the types merged into a name."""
        return replace(self, merge=tuple(pair for pair in self.merge if pair[1] != name))

    def under(self, criterion: str) -> View:
        """Return the view with another criterion."""
        return replace(self, criterion=criterion)

    def cleared(self) -> View:
        """Return the view without the filters of lists; the settings of scoring stay."""
        return replace(self, **{name: getattr(View(), name) for name in SHOW})


SHOW = ("type", "decision", "gold", "pred", "doc", "record", "q", "at")
