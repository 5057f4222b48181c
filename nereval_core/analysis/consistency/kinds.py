"""The kinds of inconsistency that a layer is asked for: a new one is one function and one row of KINDS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nereval_core.analysis.consistency.edge_questions import edge_words, odd_ends
from nereval_core.analysis.consistency.findings import Found
from nereval_core.analysis.consistency.nesting_questions import nested_differently
from nereval_core.analysis.consistency.other_layer_questions import LEAST, against_all
from nereval_core.analysis.consistency.questioned_layer import Inspected
from nereval_core.analysis.consistency.surface_form_questions import not_everywhere, several_types
from nereval_core.problems import FormatError, quoted


@dataclass(frozen=True)
class Kind:
    """A question to a layer: its name in links and options, title, the question itself, and what it is called to find
    one or many. `counted` says what a finding would settle, `form` whether findings are surface forms, `others` how
    many other layers the question takes, `none` that nothing was found, where "No" before `one` does not."""

    name: str
    title: str
    question: str
    one: str
    many: str
    counted: str
    ask: Callable[[Inspected], Found]
    form: bool = False
    others: int = 0
    none: str = ""


_LESS = "Settled are the places that would change if what is done most often were done always."
_ALL = "Each place is one to settle."
_ROWS = (
    Kind(
        "types",
        "Several types",
        "Which surface forms are annotated now with one type, now with another?",
        "form has several types",
        "forms have several types",
        _LESS,
        several_types,
        form=True,
    ),
    Kind(
        "not-everywhere",
        "Here, not there",
        "Which surface forms are annotated at some places and stand at others without any annotation?",
        "form is annotated here and not there",
        "forms are annotated here and not there",
        f"{_LESS} Places inside another span are listed, but count for neither.",
        not_everywhere,
        form=True,
    ),
    Kind(
        "edges",
        "Edge words",
        "Which words stand at an edge of spans, now inside, now just outside?",
        "word stands at an edge now inside, now just outside",
        "words stand at an edge now inside, now just outside",
        _LESS,
        edge_words,
    ),
    Kind(
        "nesting",
        "Nested differently",
        "Which texts are annotated as a whole here, in parts there, or with other spans inside?",
        "text is nested or parted differently",
        "texts are nested or parted differently",
        _LESS,
        nested_differently,
        form=True,
    ),
    Kind(
        "odd-ends",
        "Odd ends",
        "Which spans have white space or punctuation at an edge, half of a pair of brackets, or an edge inside a word?",
        "kind of odd ends",
        "kinds of odd ends",
        _ALL,
        odd_ends,
        none="No span has an odd end.",
    ),
    Kind(
        "against-all",
        "Against all others",
        "Where do all other layers agree against this one?",
        "form on which all others agree against this layer",
        "forms on which all others agree against this layer",
        _ALL,
        against_all,
        form=True,
        others=LEAST,
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ROWS})


def check_kinds(names: Sequence[str]) -> None:
    """Raises FormatError where there is no kind of one of these names."""
    for name in names:
        if name not in KINDS:
            raise FormatError.single("--kinds", None, f"{quoted(name)} is no kind", f"choose among {', '.join(KINDS)}")


__all__: Sequence[str] = ("KINDS", "Kind", "check_kinds")
