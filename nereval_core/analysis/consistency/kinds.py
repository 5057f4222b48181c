"""The kinds of inconsistency; a new kind is one function and one row of KINDS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nereval_core.analysis.consistency.boundary_questions import find_different_nesting, find_edge_words, find_odd_ends
from nereval_core.analysis.consistency.findings import RankedFindings
from nereval_core.analysis.consistency.indexed_layer import IndexedLayer
from nereval_core.analysis.consistency.surface_form_questions import (
    LEAST_OTHERS,
    find_forms_not_annotated_everywhere,
    find_forms_with_several_types,
    find_lone_disagreements,
)
from nereval_core.problems import FormatError, quoted


@dataclass(frozen=True)
class ConsistencyKind:
    """A kind of inconsistency: its name in links and options, its title, and the question that finds it.

    `singular` and `plural` follow the number of findings. `counted` explains the places that a finding would settle.
    `form`: the findings are surface forms. `others` is the number of other layers needed. `none` replaces "No" before
    `singular` when nothing was found.
    """

    name: str
    title: str
    question: str
    singular: str
    plural: str
    counted: str
    ask: Callable[[IndexedLayer], RankedFindings]
    form: bool = False
    others: int = 0
    none: str = ""


_LESS = "Settled are the places that would change if what is done most often were done always."
_ALL = "Each place is one to settle."
_ROWS = (
    ConsistencyKind(
        "types",
        "Several types",
        "Which surface forms are annotated now with one type, now with another?",
        "form has several types",
        "forms have several types",
        _LESS,
        find_forms_with_several_types,
        form=True,
    ),
    ConsistencyKind(
        "not-everywhere",
        "Here, not there",
        "Which surface forms are annotated at some places and stand at others without any annotation?",
        "form is annotated here and not there",
        "forms are annotated here and not there",
        f"{_LESS} Places inside another span are listed, but count for neither.",
        find_forms_not_annotated_everywhere,
        form=True,
    ),
    ConsistencyKind(
        "edges",
        "Edge words",
        "Which words stand at an edge of spans, now inside, now just outside?",
        "word stands at an edge now inside, now just outside",
        "words stand at an edge now inside, now just outside",
        _LESS,
        find_edge_words,
    ),
    ConsistencyKind(
        "nesting",
        "Nested differently",
        "Which texts are annotated as a whole here, in parts there, or with other spans inside?",
        "text is nested or parted differently",
        "texts are nested or parted differently",
        _LESS,
        find_different_nesting,
        form=True,
    ),
    ConsistencyKind(
        "odd-ends",
        "Suspicious boundaries",
        "Which spans have white space or punctuation at an edge, half of a pair of brackets, or an edge inside a word?",
        "kind of suspicious boundaries",
        "kinds of suspicious boundaries",
        _ALL,
        find_odd_ends,
        none="No span has an odd end.",
    ),
    ConsistencyKind(
        "against-all",
        "Against all others",
        "Where do all other layers agree against this one?",
        "form on which all others agree against this layer",
        "forms on which all others agree against this layer",
        _ALL,
        find_lone_disagreements,
        form=True,
        others=LEAST_OTHERS,
    ),
)
KINDS: Mapping[str, ConsistencyKind] = {kind.name: kind for kind in _ROWS}


def check_kinds(names: Sequence[str]) -> None:
    """Check names of kinds.

    Raises:
        FormatError: there is no such kind.
    """
    for name in names:
        if name not in KINDS:
            remedy = f"choose among {', '.join(KINDS)}"
            raise FormatError.single("--kinds", None, f"{quoted(name)} is not a kind", remedy)
