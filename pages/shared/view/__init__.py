"""The view: the state of a page as data, of which each field is a parameter of the link. No Streamlit in here.

Lists are written with commas; a comma, semicolon, equals or percent sign inside a name is written as %2C, %3B, %3D,
%25. In `gold` and `pred` a lone `-` means that this side has no span (the name `-` is written %2D).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from nereval_core.records.queries import ORDERS

MASKED = "yes"
BY_CLASS = "by-class"
"""The word of `sort` by which Inspect shows classes of errors in place of records."""
WHOLE = "whole-document"
"""The word of `sort` by which Inspect shows a document without the queue."""
LAYOUTS = (WHOLE, "row-share", "column-share", "off-diagonal", "by-confusion", "as-map", BY_CLASS)
CRITERIA_VIEWS = ("two-criteria", "curve", "ladder", "recovered", "merging", "stand-in", "compose")
"""Views of the Criteria page beside all criteria."""
PUBLISHED = "published"
"""The word of `sort` by which Criteria shows published scorers below the criteria that mean the same."""
SYSTEMS_VIEWS = ("types-of-systems", "across-criteria", "all-pairs", "from-a-to-b")
"""Views of the Systems page beside the ranking."""
SLICES_VIEWS = ("scores", "worst-slices", "decades", "as-clef-hipe")
"""Views of the Slices page beside slices by properties of spans and documents."""
REVIEW_VIEWS = ("given-verdicts", "adjudicate", "take-along")
"""Views of the Review page beside what-if scores."""
OVERVIEW_TABS = ("by-slice", "all-criteria", "averages")
"""Parts of Overview beside the scores by type."""
SLICED_BY = (
    *("by-length", "by-tokens", "by-shape", "by-frequency", "by-consistency"),
    *("by-position", "by-document-length", "by-spans", "by-period", "by-noise"),
)
"""Slicings of Slices, in the words of a link."""
SLIDES = "slides"
"""The word of `sort` by which Present shows slides, not what they are chosen by."""
FIGURE_SLIDES = ("scores-slide", "confusion-slide")
"""Words of `sort` by which the slide shown is a figure, not the title or a record."""
RECORDS_ONLY = "records-only"
"""The word of `sort` by which slides show no figures."""
AGREEMENT_VIEWS = ("as-observed", "as-kappa", "as-alpha", "as-unitizing")
"""Figures that the matrix of annotators shows beside F1."""
GAMMA = "gamma"
"""The word of `sort` by which Annotators shows gamma among the figures."""
FIGURES = "figures"
"""The word of `sort` by which Annotators shows figures such as kappa, not what annotators disagree on."""
CONSISTENCY = "consistency"
"""The word of `sort` by which Annotators shows what a careful reader would question within one layer."""
CONSISTENCY_VIEWS = ("not-everywhere", "edges", "nesting", "odd-ends", "against-all")
"""Questions of the Consistency page beside forms with several types."""
LINKING = ("overlapping", "first-3", "first-5", "given-mentions", "any-link", "confused-ids")
"""Words of `sort` for the Linking page."""


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
    - `at`: a place in the document, annotated or not, as `12-19`: code points, end exclusive.
    - `resample`: the units of resampling, in the words of `--resample-by`.

    Empty fields stand for the default: first system by name, no second one, strict, all but the correct records in
    lists, document order, gold itself, texts as they are, each document resampled.
    """

    corpus: str = ""
    system: str = ""
    criterion: str = "strict"
    merge: tuple[tuple[str, str], ...] = ()
    leaveout: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    decision: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    pred: tuple[str, ...] = ()
    doc: str = ""
    record: str = ""
    sort: tuple[str, ...] = ()
    q: str = ""
    beside: str = ""
    versus: str = ""
    rule: str = ""
    reference: str = ""
    mask: str = ""
    playlist: str = ""
    annotators: tuple[str, ...] = ()
    at: str = ""
    resample: str = ""

    @property
    def place(self) -> tuple[int, int] | None:
        """The place in the document that is asked for, None without one."""
        low, _, high = self.at.partition("-")
        return (int(low), int(high)) if high else None

    def ordered_by(self) -> str:
        return self.choice(ORDERS) or ORDERS[0]

    def with_sort(self, word: str, on: bool = True) -> View:
        """Return the view with a word of `sort` set or not; setting an order or a share replaces the other ones."""
        rivals = next((group for group in _RIVALS if on and word in group), (word,))
        rest = tuple(one for one in self.sort if one not in rivals)
        return replace(self, sort=rest + ((word,) if on and word != ORDERS[0] else ()))

    def choice(self, words: Collection[str]) -> str:
        """Return which of some words `sort` holds, "" where it holds none."""
        return next((word for word in self.sort if word in words), "")

    def with_choice(self, words: Collection[str], chosen: str) -> View:
        """Return the view with one of some words of `sort` set; with none where that chosen is none of them."""
        rest = replace(self, sort=tuple(word for word in self.sort if word not in words))
        return rest.with_sort(chosen) if chosen in words else rest

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
_RIVALS = (
    ORDERS,
    OVERVIEW_TABS,
    ("row-share", "column-share"),
    ("first-3", "first-5"),
    CRITERIA_VIEWS,
    SYSTEMS_VIEWS,
    SLICES_VIEWS,
    SLICED_BY,
    AGREEMENT_VIEWS,
    CONSISTENCY_VIEWS,
    REVIEW_VIEWS,
    FIGURE_SLIDES,
)
