"""What a page shows, as data, and how it is written into an address and read back. No Streamlit in here.

Lists are written with commas; a comma, semicolon, equals or percent sign inside a name is written as %2C, %3B, %3D,
%25. In `gold` and `pred` a lone `-` means that this side has no span (the name `-` is written %2D).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import unquote, urlencode

from nereval_core.glossary import DECISIONS
from nereval_core.problems import quoted
from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.scoring.criteria import CRITERIA

LIMIT = 2_000
"""A longer query string is not put in a link: some mail programs and servers cut it."""
PREFIX = 16
"""Hexadecimal digits of a corpus digest that stand in a link; at least 12 are asked for."""
MASKED = "yes"
BY_CLASS = "by-class"
"""The word of `sort` by which Errors shows classes of errors in place of records."""
LAYOUTS = ("all-criteria", "row-share", "column-share", "off-diagonal", "by-confusion", "as-map", BY_CLASS)
CRITERIA_VIEWS = ("two-criteria", "curve", "ladder", "recovered", "merging", "stand-in", "compose")
"""What the Criteria page shows in place of all criteria."""
SLICES_VIEWS = ("scores", "worst-slices", "decades", "as-clef-hipe")
"""What the Slices page shows in place of slices by what spans and documents are."""
REVIEW_VIEWS = ("given-verdicts", "adjudicate", "take-along")
"""What the Review page shows in place of what-if scores."""
SLICED_BY = (
    *("by-length", "by-tokens", "by-shape", "by-frequency", "by-consistency"),
    *("by-position", "by-document-length", "by-spans", "by-period", "by-noise"),
)
"""What Slices slices by, in the words of a link."""
SLIDES = "slides"
"""The word of `sort` by which Present shows slides, not what they are chosen by."""
AGREEMENT_VIEWS = ("as-observed", "as-kappa", "as-alpha", "as-unitizing")
"""What the matrix of annotators on Agreement shows in place of F1."""
CONSISTENCY_VIEWS = ("not-everywhere", "edges", "nesting", "odd-ends", "against-all")
"""What the Consistency page asks in place of which forms have several types."""
LINKING = ("overlapping", "first-3", "first-5", "given-mentions", "any-link", "confused-ids")
"""What else `sort` may say: how Overview and Confusion lay their tables out, and what Linking shows."""


@dataclass(frozen=True, slots=True)
class View:
    """What is shown: the corpus by content digest (or a prefix), how it is scored, and which records are listed.

    `merge` pairs a type with the name it is merged into. `doc` narrows lists down, unless a `record` is chosen: then it
    only says which document that stands in. `beside` is a second system, which the first is held against, `versus` a
    second criterion. `rule` is that of a criterion of one's own (`pages.shared.view.criterion_rules`): links carry it,
    no session keeps it. `reference` is the layer that is taken as gold, `annotators` are those that Agreement looks at.
    `mask` is MASKED where texts are. `playlist` is the uid of the playlist that records are put on and that Present
    shows, after a slash that of the record shown. `at` is a place in the document, annotated or not, as `12-19`: code
    points, end exclusive. `resample` is what intervals are made over, in the words of `--resample-by`. Empty fields
    stand for the default: first system by name, no second one, strict, everything but the correct records in lists,
    document order, gold itself, texts as they are, each document resampled.
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
        return next((word for word in self.sort if word in ORDERS), ORDERS[0])

    def with_sort(self, word: str, on: bool = True) -> View:
        """Return the view with a word of `sort` set or not; setting an order or a share replaces the other ones."""
        rivals = next((group for group in _RIVALS if on and word in group), (word,))
        rest = tuple(one for one in self.sort if one not in rivals)
        return replace(self, sort=rest + ((word,) if on and word != ORDERS[0] else ()))

    def cleared(self) -> View:
        """Return the view without what narrows lists down; how things are scored stays."""
        return replace(self, **{name: getattr(View(), name) for name in SHOW})


SCORING = ("corpus", "system", "criterion", "merge", "leaveout", "reference", "mask")
SHOW = ("type", "decision", "gold", "pred", "doc", "record", "q", "at")
_OWN_ELSEWHERE = (
    "is not known here; if it is the sender's own, ask for its TOML file and load it under Matching criterion, "
    "your own: this link does not carry its rule"
)
_RIVALS = (
    ORDERS,
    ("row-share", "column-share"),
    ("first-3", "first-5"),
    CRITERIA_VIEWS,
    SLICES_VIEWS,
    SLICED_BY,
    AGREEMENT_VIEWS,
    CONSISTENCY_VIEWS,
    REVIEW_VIEWS,
)
_PLACE = re.compile(r"\d{1,9}-\d{1,9}")
_RECORD = re.compile(r"[gp]:\d+-\d+(,\d+-\d+)*:.+", re.DOTALL)
_PLAYLIST = re.compile(r"[0-9a-f]{12,32}(/[0-9a-f]{12,64})?")


def write(view: View) -> dict[str, str]:
    """Return the parameters of a view, defaults left out, in the order of the fields."""
    found = {}
    for item in fields(View):
        value = getattr(view, item.name)
        if value != getattr(View(), item.name):
            found[item.name] = _WRITERS.get(item.name, str)(value)
    if "corpus" in found:
        found["corpus"] = found["corpus"][:PREFIX]
    return found


def linkable(view: View) -> dict[str, str] | None:
    """Return the parameters of a view, None where they make a query string longer than LIMIT characters."""
    params = write(view)
    return params if len(urlencode(params)) <= LIMIT else None


def parse(params: Mapping[str, str]) -> tuple[View, tuple[str, ...]]:
    """Read parameters; return the view and, in words, what was dropped because it cannot be understood."""
    names = {item.name for item in fields(View)}
    values: dict[str, object] = {}
    notices = []
    for name, text in params.items():
        if name not in names:
            notices.append(f"the link has a parameter {quoted(name)} that is not known")
            continue
        value, wrong = _READERS[name](text)
        notices += [f"{name}: {one}" for one in wrong]
        if value:
            values[name] = value
    return replace(View(), **values), tuple(notices)  # type: ignore[arg-type]


def checked(
    view: View,
    *,
    systems: Collection[str],
    criteria: Collection[str],
    known_types: Collection[str],
    scored_types: Collection[str],
    documents: Collection[str],
) -> tuple[View, tuple[str, ...]]:
    """Return the view without what the corpus does not have, and in words what was dropped.

    `known_types` are the types as annotated; `scored_types` are those after merging and leaving out.
    """
    notices: list[str] = []

    def kept(name: str, allowed: Collection[str]) -> tuple[str, ...]:
        values = getattr(view, name)
        notices.extend(f"{name}: {quoted(value)} is not in this corpus" for value in values if value not in allowed)
        return tuple(value for value in values if value in allowed)

    def one(name: str, allowed: Collection[str], default: str, why: str) -> str:
        value = str(getattr(view, name))
        if value == default or value in allowed:
            return value
        notices.append(f"{name}: {quoted(value)} {why}")
        return default

    lost = [name for name in ("record", "at") if getattr(view, name) and not view.doc]
    notices.extend(f"{name}: its document is not given" for name in lost)
    merged = {name for _, name in view.merge}
    sides = {*scored_types, ABSENT}
    for member, _ in view.merge:
        if member not in known_types:
            notices.append(f"merge: {quoted(member)} is not in this corpus")
    system = one("system", systems, "", "is not a system of this corpus")
    return replace(
        view,
        system=system,
        criterion=one(
            "criterion",
            criteria,
            "strict",
            "is not a matching criterion that applies here" if view.criterion in CRITERIA else _OWN_ELSEWHERE,
        ),
        merge=tuple(pair for pair in view.merge if pair[0] in known_types),
        leaveout=kept("leaveout", {*known_types, *merged}),
        type=kept("type", scored_types),
        gold=kept("gold", sides),
        pred=kept("pred", sides),
        beside="" if view.beside == system else one("beside", systems, "", "is not a system of this corpus"),
        versus=one("versus", criteria, "", "is not a matching criterion that applies here"),
        doc=(doc := one("doc", documents, "", "is not a document of this corpus")),
        record=view.record if doc else "",
        at=view.at if doc else "",
    ), tuple(notices)


def _packed(names: Iterable[str]) -> str:
    return ",".join(_escaped(name) for name in names)


def _packed_sides(names: Iterable[str]) -> str:
    return ",".join("-" if name == ABSENT else "%2D" if name == "-" else _escaped(name) for name in names)


def _packed_merge(pairs: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for member, name in pairs:
        groups.setdefault(name, []).append(member)
    return ";".join(f"{_packed(members)}={_escaped(name)}" for name, members in groups.items())


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "%,;=" else char for char in name)


Read = Callable[[str], tuple[object, list[str]]]


def _text(text: str) -> tuple[object, list[str]]:
    # Half a surrogate pair and NUL come from hand-made links only.
    fine = text.isprintable() or not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
    return (text, []) if fine else ("", [f"{quoted(text)} is no text"])


def _digest(text: str) -> tuple[object, list[str]]:
    if re.fullmatch(r"[0-9a-f]{12,64}", text):
        return text, []
    return "", [f"{quoted(text)} is no digest of a corpus (12 to 64 hexadecimal digits)"]


def _names(text: str) -> tuple[object, list[str]]:
    names = tuple(dict.fromkeys(unquote(part) for part in text.split(",")))
    return tuple(name for name in names if name), [] if all(names) else ["an empty name"]


def _sides(text: str) -> tuple[object, list[str]]:
    parts = tuple(dict.fromkeys(text.split(",")))
    return tuple(ABSENT if part == "-" else unquote(part) for part in parts if part), (
        [] if all(parts) else ["an empty name"]
    )


def _merges(text: str) -> tuple[object, list[str]]:
    merge: dict[str, str] = {}
    wrong = []
    for group in text.split(";"):
        members, equals, name = group.partition("=")
        parts = [unquote(part) for part in members.split(",")]
        if not equals or not name or not all(parts) or "=" in name or any(part in merge for part in parts):
            wrong.append(f"{quoted(group)} is no merge (protein,DNA=macromolecule)")
        else:
            merge.update(dict.fromkeys(parts, unquote(name)))
    return tuple(merge.items()), wrong


def _words(allowed: Collection[str]) -> Read:
    def read(text: str) -> tuple[object, list[str]]:
        words = tuple(dict.fromkeys(text.split(",")))
        return tuple(w for w in words if w in allowed), [f"{quoted(w)} is not known" for w in words if w not in allowed]

    return read


def _sort(text: str) -> tuple[object, list[str]]:
    views = (*CRITERIA_VIEWS, *SLICES_VIEWS, *SLICED_BY, *AGREEMENT_VIEWS, *CONSISTENCY_VIEWS, *REVIEW_VIEWS, SLIDES)
    words, wrong = _words((*ORDERS, *LAYOUTS, *LINKING, *views))(text)
    view = View()
    for word in words:  # type: ignore[attr-defined]
        view = view.with_sort(word)
    return view.sort, wrong


def _record(text: str) -> tuple[object, list[str]]:
    return (text, []) if _RECORD.fullmatch(text) else ("", [f"{quoted(text)} is no record (such as g:12-19:Drug)"])


def _masked(text: str) -> tuple[object, list[str]]:
    return (text, []) if text == MASKED else ("", [f"{quoted(text)} is not {MASKED}"])


def _playlist(text: str) -> tuple[object, list[str]]:
    return (text, []) if _PLAYLIST.fullmatch(text) else ("", [f"{quoted(text)} is no playlist (12 or more digits)"])


def _place(text: str) -> tuple[object, list[str]]:
    low, _, high = text.partition("-")
    fine = _PLACE.fullmatch(text) and int(low) < int(high)
    return (text, []) if fine else ("", [f"{quoted(text)} is no place in a text (such as 12-19)"])


_WRITERS: Mapping[str, Callable[..., str]] = {
    "merge": _packed_merge,
    "leaveout": _packed,
    "type": _packed,
    "decision": ",".join,
    "gold": _packed_sides,
    "pred": _packed_sides,
    "sort": ",".join,
    "annotators": _packed,
}
_READERS: Mapping[str, Read] = {
    "corpus": _digest,
    "system": _text,
    "criterion": _text,
    "merge": _merges,
    "leaveout": _names,
    "type": _names,
    "decision": _words(DECISIONS),
    "gold": _sides,
    "pred": _sides,
    "doc": _text,
    "record": _record,
    "sort": _sort,
    "q": _text,
    "beside": _text,
    "versus": _text,
    "rule": _text,
    "reference": _text,
    "mask": _masked,
    "playlist": _playlist,
    "annotators": _names,
    "at": _place,
    "resample": _text,
}
