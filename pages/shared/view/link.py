"""Links: writing a view as the parameters of an address, reading it back, and checking it against a corpus.

The rule of a criterion of one's own is a parameter too: `half:boundaries=overlap;minimum=1/2;share=union`. What is as
by default is left out, and so is the sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlencode

from nereval_core.problems import FormatError, quoted
from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.records.text_search import regex_problem
from nereval_core.scoring.criteria import CRITERIA, Criterion
from nereval_core.scoring.criterion_syntax import criterion_from_parts, near_miss_parts
from pages.shared.view import FIGURE_SLIDES, FIGURES, FINISH, LAYOUTS, QUESTIONS, SLICED_BY, TABS, Codec, View
from pages.shared.view.queries import query_of, search_of

LIMIT = 2_000
"""A longer query string is not put in a link: some mail programs and servers cut it."""
CODECS: Mapping[str, Codec[Any]] = MappingProxyType({item.name: item.metadata["codec"] for item in fields(View)})
"""The codec of each field of the view."""
_OWN_ELSERULE_SOURCE = (
    "is not known here; if it is the sender's own, ask for its TOML file and load it under Matching criterion, "
    "your own: this link does not carry its rule"
)


def write_link(view: View) -> dict[str, str]:
    """Return the parameters of a view, defaults left out, in the order of the fields."""
    default = View()
    return {
        name: codec.write(value)
        for name, codec in CODECS.items()
        if (value := getattr(view, name)) != getattr(default, name)
    }


def write_short_link(view: View) -> dict[str, str] | None:
    """Return the parameters of a view, None where they make a query string longer than LIMIT characters."""
    params = write_link(view)
    return params if len(urlencode(params)) <= LIMIT else None


def read_link(params: Mapping[str, str]) -> tuple[View, tuple[str, ...]]:
    """Read parameters; return the view and, in words, the values that were dropped as they cannot be understood."""
    values, notices = _read_sort(params["sort"]) if "sort" in params else ({}, [])
    for name, text in params.items():
        if name in CODECS:
            value, wrong = CODECS[name].read(text)
            notices += [f"{name}: {complaint}" for complaint in wrong]
            if value:
                values[name] = value
        elif name != "sort":
            notices.append(f"the link has a parameter {quoted(name)} that is not known")
    return replace(View(), **values), tuple(notices)


MOST_TRACKS = 4
"""Systems on Inspect beside the one that is read and the first that it is compared with."""


def check_view(
    view: View,
    *,
    systems: Collection[str],
    criteria: Collection[str],
    known_types: Collection[str],
    scored_types: Collection[str],
    documents: Collection[str],
) -> tuple[View, tuple[str, ...]]:
    """Return the view without the values that the corpus does not have, and these in words.

    `known_types` are the types as annotated; `scored_types` are those after merging and leaving out.
    """
    notices: list[str] = []

    def in_corpus(name: str, allowed: Collection[str]) -> tuple[str, ...]:
        values = getattr(view, name)
        notices.extend(f"{name}: {quoted(value)} is not in this corpus" for value in values if value not in allowed)
        return tuple(value for value in values if value in allowed)

    def allowed_value(name: str, allowed: Collection[str], default: str, why: str) -> str:
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
    is_cell = all(name in sides or any(kind.startswith(name) for kind in scored_types) for name in view.cell)
    if not is_cell:
        notices.append(f"cell: {quoted(', '.join(view.cell))} is not in this corpus")
    if problem := regex_problem(query_of(view).text):
        notices.append(f"q: {quoted(query_of(view).text)} is not a regular expression: {problem}")
        view = replace(view, q=search_of(replace(query_of(view), text="")))
    system = allowed_value("system", systems, "", "is not a system of this corpus")
    return replace(
        view,
        system=system,
        criterion=allowed_value(
            "criterion",
            criteria,
            "strict",
            "is not a matching criterion that applies here" if view.criterion in CRITERIA else _OWN_ELSERULE_SOURCE,
        ),
        merge=tuple(pair for pair in view.merge if pair[0] in known_types),
        leaveout=in_corpus("leaveout", {*known_types, *merged}),
        type=in_corpus("type", scored_types),
        gold=in_corpus("gold", sides),
        pred=in_corpus("pred", sides),
        cell=view.cell if is_cell else (),
        beside="" if view.beside == system else allowed_value("beside", systems, "", "is not a system of this corpus"),
        tracks=tuple(name for name in in_corpus("tracks", systems) if name not in (system, view.beside))[:MOST_TRACKS],
        versus=allowed_value("versus", criteria, "", "is not a matching criterion that applies here"),
        step=allowed_value("step", criteria, "", "is not a matching criterion that applies here"),
        doc=(doc := allowed_value("doc", documents, "", "is not a document of this corpus")),
        record=view.record if doc else "",
        at=view.at if doc else "",
    ), tuple(notices)


SORT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{word: ("order", word) for word in ORDERS},
        **{word: (name, word) for name, words in TABS.items() for word in words if name != "linking_tab"},
        **{f"by-{name}": ("slice_by", name) for name in SLICED_BY},
        **{f"as-{name}": ("figure", name) for name in FIGURES},
        **{name: ("question", name) for name in QUESTIONS},
        **{word: ("layout", word) for word in LAYOUTS if word != "all-criteria"},
        **{f"{name}-slide": ("slide", name) for name in FIGURE_SLIDES},
        "slides": ("slide", "record"),
        "row-share": ("share", ""),
        "column-share": ("share", "column"),
        "first-3": ("rank", "3"),
        "first-5": ("rank", "5"),
        "given-mentions": ("mentions", "given"),
        "confused-ids": ("linking_tab", "ids"),
        **{word: ("review_tab", tab) for word, tab in FINISH.items()},
        # It was never used.
        "as-map": ("layout", ""),
    }
)
"""The words of `sort`, in older links the parameter for orders, tabs and layouts: the field of each, and its value."""
_TABS_OF_FIELDS = {
    "slices_tab": ("overview_tab", "by-slice"),
    "slice_by": ("overview_tab", "by-slice"),
    "figure": ("annotators_tab", "figures"),
    "question": ("annotators_tab", "consistency"),
}
"""In older links what is shown on a tab led to it."""


def _read_sort(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values of fields that an older link has under `sort`, and its unknown words."""
    words = dict.fromkeys(text.split(","))
    fields_of_words = [SORT[word] for word in words if word in SORT]
    values: dict[str, Any] = dict(_TABS_OF_FIELDS[name] for name, _ in fields_of_words if name in _TABS_OF_FIELDS)
    # A show was on by one word, and its slide another: the latter says both.
    values |= dict(sorted(fields_of_words, key=lambda pair: pair == SORT["slides"], reverse=True))
    values["layout"] = tuple(word for name, word in fields_of_words if name == "layout" and word)
    if "all-criteria" in words:
        # It was a tab of Overview and a switch of other pages.
        values["layout"] += ("all-criteria",)
    return values, [f"sort: {quoted(word)} is not known" for word in words if word not in SORT]


RULE_SIGNS = "%,;=:>"
RULE_SOURCE = "rule in the link"


def write_rule(criterion: Criterion) -> str:
    """Return a criterion as a link carries it."""
    parts = [("boundaries", criterion.boundaries)]
    parts += [] if criterion.same_type else [("types", "any")]
    parts += [("minimum", str(criterion.minimum)), ("share", criterion.share)] if criterion.minimum else []
    parts += [(key, decision) for key, decision in near_miss_parts(criterion).items() if decision != "INC"]
    groups: dict[str, list[str]] = {}
    for member, name in criterion.merge:
        groups.setdefault(name, []).append(_escaped(member))
    parts += [("merge", f"{','.join(members)}>{_escaped(name)}") for name, members in groups.items()]
    parts += [("leave_out", ",".join(map(_escaped, criterion.leave_out)))] if criterion.leave_out else []
    return f"{criterion.name}:" + ";".join(f"{key}={value}" for key, value in parts)


def is_rule_of(rule: str, criterion: str) -> bool:
    """Tell whether a rule as a link carries it is that of a criterion by name."""
    return rule.partition(":")[0] == criterion


def read_rule(rule: str) -> Criterion:
    """Read a rule as a link carries it, the reverse of `write_rule`.

    Raises:
        FormatError: anything else.
    """
    name, _, rest = rule.partition(":")
    parts: dict[str, Any] = {}
    merge: dict[str, list[str]] = {}
    for item in rest.split(";"):
        key, equals, value = item.partition("=")
        if key == "merge":
            members, arrow, merged = value.partition(">")
            merge[unquote(merged) if arrow else ""] = [unquote(member) for member in members.split(",")]
        elif key == "leave_out":
            parts[key] = [unquote(kind) for kind in value.split(",")]
        elif not equals or key in parts:
            raise FormatError.single(RULE_SOURCE, None, f"{quoted(rule)} is not a rule", "copy the whole link")
        else:
            parts[key] = unquote(value)
    fields_of_rule: Mapping[str, Any] = {**parts, "merge": merge} if merge else parts
    if "" in merge:
        raise FormatError.single(RULE_SOURCE, None, f"{quoted(rule)} merges types into no name", "copy the whole link")
    return criterion_from_parts(name, fields_of_rule, RULE_SOURCE)


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in RULE_SIGNS else char for char in name)
