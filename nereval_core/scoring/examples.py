"""Examples that explain the decisions: spans written into the text, `Give [Aspirin tablet|Drug] now`, and scored.

Brackets nest; a backslash takes the meaning from `[`, `]`, `|` and itself. The type stands after the last `|`
before the closing bracket. The types `=core` and `=alternative` make no spans: they mark the core of the smallest
span around them, and other boundaries for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, applicable

Span = tuple[int, int, str]
_CLOSE = re.compile(r"\|([^\[\]|\\\r\n]*)\]")
_SPECIAL = frozenset("[]|\\")
CORE, ALTERNATIVE = "=core", "=alternative"


@dataclass(frozen=True, slots=True)
class Example:
    """A text written twice, with the gold spans and with the predictions marked, and a sentence that explains it."""

    title: str
    gold: str
    prediction: str
    sentence: str = ""


def parse_marked(marked: str, source: str) -> tuple[str, tuple[Span, ...]]:
    """Return the text without its marks and the spans (start, end, type) in code points, end exclusive.

    Raises:
        FormatError: with every mark that is not closed, not opened, empty or without a type, and its line.
    """
    text: list[str] = []
    spans: list[Span] = []
    problems: list[Problem] = []
    opened: list[tuple[int, int]] = []

    def wrong(place: int, finding: str, remedy: str) -> None:
        line = marked.count("\n", 0, place) + 1
        column = place - (marked.rfind("\n", 0, place) + 1) + 1
        problems.append(Problem(source, line, f"column {column}: {finding}", remedy))

    place = 0
    while place < len(marked):
        char = marked[place]
        close = _CLOSE.match(marked, place) if opened and char == "|" else None
        if char == "\\" and marked[place + 1 : place + 2] in _SPECIAL and place + 1 < len(marked):
            text.append(marked[place + 1])
            place += 2
        elif close is not None:
            start, at = opened.pop()
            label = close[1].strip()
            if not label:
                wrong(place, "a span without a type", "write [Aspirin tablet|Drug]")
            elif start == len(text):
                wrong(at, "a span without text", "write [Aspirin tablet|Drug]")
            spans.append((start, len(text), label))
            place = close.end()
        elif char == "[":
            opened.append((len(text), place))
            place += 1
        elif char == "]":
            if opened:
                opened.pop()
                wrong(place, "a span without a type", r"write [Aspirin tablet|Drug], or \[ and \] for brackets")
            else:
                wrong(
                    place, "a bracket closes that was never opened", r"write [Aspirin tablet|Drug], or \] for a bracket"
                )
            place += 1
        else:
            text.append(char)
            place += 1
    for _, at in opened:
        wrong(at, "a bracket is never closed", r"write [Aspirin tablet|Drug], or \[ for a bracket")
    if problems:
        raise FormatError(sorted(problems, key=lambda problem: problem.line or 0))
    return "".join(text), tuple(sorted(spans, key=lambda span: (span[0], -span[1], span[2])))


def layers(example: Example) -> tuple[Layer, Layer]:
    """Return gold and prediction of an example as layers of one document.

    Raises:
        FormatError: for bad marks, and where the two texts differ.
    """
    problems: list[Problem] = []
    read = []
    for source, marked in (("gold", example.gold), ("prediction", example.prediction)):
        try:
            read.append(parse_marked(marked, source))
        except FormatError as error:
            problems.extend(error.problems)
    if problems:
        raise FormatError(problems)
    (text, gold), (other, prediction) = read
    if text != other:
        place = next(
            (i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
        )
        finding = f"the texts differ from {quoted(text[place:], 20)} in gold and {quoted(other[place:], 20)} here"
        remedy = "mark the same text twice"
        raise FormatError.single("prediction", text.count("\n", 0, place) + 1, finding, remedy)
    if not text:
        raise FormatError.single("gold", None, "there is no text", "write some")
    documents = Documents(("example",), (text,))

    def layer_of(name: str, marked: tuple[Span, ...]) -> Layer:
        spans, extras = _belonging(marked, text, name)
        starts, ends = [span[0] for span in spans], [span[1] for span in spans]
        return layer(name, documents, [0] * len(spans), starts, ends, [span[2] for span in spans], extras=extras)

    return layer_of("gold", gold), layer_of("prediction", prediction)


def _belonging(marked: Sequence[Span], text: str, source: str) -> tuple[list[Span], dict[str, dict[int, Any]]]:
    """Return the spans without marks of cores and alternatives, and these by the span each belongs to."""
    spans = [span for span in marked if span[2] not in (CORE, ALTERNATIVE)]
    cores: dict[int, tuple[int, int]] = {}
    alternatives: dict[int, tuple[tuple[int, int], ...]] = {}
    problems = []
    for start, end, mark in marked:
        if mark not in (CORE, ALTERNATIVE):
            continue
        around = [i for i, (low, high, _) in enumerate(spans) if low <= start and end <= high]
        owner = min(around, key=lambda i: spans[i][1] - spans[i][0], default=None)
        line = text.count("\n", 0, start) + 1
        if owner is None or (mark == CORE and owner in cores):
            which = f"a {mark} of no span" if owner is None else f"a second {mark} of one span"
            remedy = f"write [human [p53|{CORE}] gene|Gene], with one core a span"
            problems.append(Problem(source, line, f"{quoted(text[start:end])} is {which}", remedy))
        elif mark == CORE:
            cores[owner] = (start, end)
        else:
            alternatives[owner] = (*alternatives.get(owner, ()), (start, end))
    if problems:
        raise FormatError(problems)
    return spans, {"cores": cores, "alternatives": alternatives}


def decide(example: Example) -> Scores:
    """Score an example under every criterion that applies.

    Raises:
        FormatError: as `layers` does.
    """
    gold, prediction = layers(example)
    return score_layers(gold, prediction, Settings(tuple(CRITERIA[name] for name in applicable(gold))))


CASES = ("equal", "only the span is equal", "overlap, same type", "overlap, other type", "missed", "spurious")
"""The cases of SIX_CASES in the order of its text."""
SIX_CASES = Example(
    "Six cases, four schemas and muc",
    "[Ana Ruiz|Person] left [Quito|Place] for [Lake Como|Place] with [Bank of Peru|Company] and [Luis|Person] today.",
    "[Ana Ruiz|Person] left [Quito|Company] for Lake [Como|Place] with [Bank|Place] of Peru and Luis [today|Person].",
    "Five gold spans and five predictions, marked as `strict` decides. Only `muc` gives all five decisions.",
)
"""The worked table of the SemEval-2013 task 9.1 schemas: one pair or span of each of CASES."""

PAIRING = Example(
    "One prediction, two gold spans",
    "Take [beta blockers|Group] or [aspirin|Drug] daily.",
    "Take beta [blockers or aspirin|Drug] daily.",
    "The prediction overlaps a Group first, and then a Drug.",
)
"""An example that the readings of SemEval-2013 decide differently under `type`."""
READINGS = {
    "definition": (
        "The published definition",
        "It says what each schema asks of a pair, and how counts make precision and recall. It does not say which gold "
        "span a prediction meets: both answers fit.",
        "",
    ),
    "semeval-2013-9.1": (
        "The program of the task",
        "Each prediction meets the first gold span that it overlaps, met already or not. In sentences without gold it "
        "costs nothing. Precision gives partial matches no credit.",
        "INC",
    ),
    "nervaluate-1.1.0": (
        "nervaluate 1.1.0",
        "Each prediction, in the order of the file, takes the first gold span that is free.",
        "INC",
    ),
    "nervaluate-1.2.1": (
        "nervaluate 1.2.1",
        "The same, but an equal gold span comes first, and under ent_type the nearest one of its type.",
        "COR",
    ),
    "ours": (
        "nereval",
        "Pairs are chosen together, one to one, as many as can be and the best. The order of spans does not matter.",
        "COR",
    ),
}
"""How SemEval-2013's schemas are read: title, sentence, and the decision of PAIRING's prediction, by scorer."""

FIVE_DECISIONS = Example(
    "Five decisions, one criterion",
    "On [4 May|Date] the banker [Ana Ruiz|Person] of [Bank of Peru|Company] flew from [Quito|Place] to "
    "[Lake Como|Place] with [Andes Air|Company]. Both [Luis|Person] and [Rosa Gil|Person] left [Lima|Place] on "
    "[Monday morning|Date]; [Omar Diaz|Person] stayed in [Cusco|Place]. Then [Santiago|Person] sold "
    "[Casa Vega|Company] to [Eva Soto|Person] in [June|Date] for the [Port of Callao|Company]. [Washington|Place] and "
    "[New Delhi|Place] praised [Peru Rail|Company]. All spring the minister, the mayor and the bank were silent.",
    "On [4 May|Date] the banker [Ana Ruiz|Person] of [Bank of Peru|Company] flew from [Quito|Place] to "
    "Lake [Como|Place] with [Andes Air|Company]. Both Luis and [Rosa|Person] Gil left [Lima|Place] on "
    "[Monday|Date] morning; [Omar Diaz|Person] stayed in [Cusco|Place]. Then [Santiago|Place] sold "
    "Casa [Vega|Person] to [Eva Soto|Person] in [June|Date] for the Port of [Callao|Place]. [Washington|Person] and "
    "New [Delhi|Company] praised Peru Rail. All [spring|Date] the [minister|Person], the [mayor|Person] and the "
    "[bank|Company] were silent.",
    "The decisions as MUC-5 defines them, which `muc` gives: another type is incorrect, and the same type with other "
    "boundaries is partial.",
)
"""The five decisions of MUC-5 under one criterion: COR 10, INC 5, PAR 3, MIS 2 and SPU 4 under `muc`."""

_DOSE = "Give one [Aspirin|Drug] tablet with water."

DECISION_EXAMPLES: dict[str, Example] = {
    "COR": Example("Aspirin is found", _DOSE, _DOSE, "The prediction has gold's boundaries and type."),
    "INC": Example(
        "Tagged as a brand",
        _DOSE,
        "Give one [Aspirin|Brand] tablet with water.",
        "The boundaries are right, the type is not.",
    ),
    "PAR": Example(
        "Too long a span",
        _DOSE,
        "Give one [Aspirin tablet|Drug] with water.",
        "The prediction overlaps gold but has other boundaries.",
    ),
    "MIS": Example(
        "Missed", _DOSE, "Give one Aspirin tablet with water.", "Nothing is predicted where gold has a span."
    ),
    "SPU": Example(
        "Paracetamol out of nowhere",
        "Give one [Aspirin|Drug] tablet, no Paracetamol.",
        "Give one [Aspirin|Drug] tablet, no [Paracetamol|Drug].",
        "A span is predicted where gold has none.",
    ),
}
"""Aspirin as a drug: one example for each decision."""

SHOWN_UNDER = {"COR": "strict", "INC": "strict", "PAR": "partial", "MIS": "strict", "SPU": "strict"}
"""The criterion under which an example of DECISION_EXAMPLES shows its decision."""

CRITERION_EXAMPLES: dict[str, Example] = {
    "strict": Example(
        "strict", "[New York|Place] and [Rome|Place]", "[New York|Place] and [Rome|Team]", "Rome has another type."
    ),
    "exact": Example(
        "exact", "[New York|Place] and [Rome|Place]", "New [York|Place] and [Rome|Team]", "York begins too late."
    ),
    "partial": Example(
        "partial", "[New York|Place] and [Rome|Place]", "New [York|Place] and [Rome|Team]", "York earns half a point."
    ),
    "type": Example(
        "type",
        "[New York|Place] and [Rome|Place]",
        "New [York|Place] and [Rome|Team]",
        "York overlaps and has the type.",
    ),
    "muc": Example(
        "muc",
        "[New York|Place], [Rome|Place] and [Oslo|Place]",
        "New [York|Place], [Rome|Team] and [Oslo|Place]",
        "York has other boundaries only, which earns half a point; Rome has another type.",
    ),
    "left": Example(
        "left",
        "[New York|Place], [Old Rome|Place]",
        "[New|Place] York, Old [Rome|Place]",
        "Only New starts where gold does.",
    ),
    "right": Example(
        "right",
        "[New York|Place], [Old Rome|Place]",
        "[New|Place] York, Old [Rome|Place]",
        "Only Rome ends where gold does.",
    ),
    "either": Example(
        "either",
        "[New York|Place], [the old town|Place]",
        "[New|Place] York, the [old|Place] town",
        "New shares the start; old shares neither start nor end.",
    ),
    "approximate": Example(
        "approximate",
        "[the old town|Place], [city of Rome|Place] in May",
        "the [old|Place] town, city of [Rome in May|Place]",
        "Gold contains old; Rome in May only crosses gold.",
    ),
    "lenient": Example(
        "lenient",
        "[city of Rome|Place] in May, [Oslo|Place]",
        "city of [Rome in May|Team], Oslo",
        "Any overlap will do, whatever the type; Oslo is missed all the same.",
    ),
    "core": Example(
        "core",
        "[human [p53|=core] gene|Gene] and [mouse [p21|=core] gene|Gene]",
        "human [p53|Gene] gene and [mouse|Gene] p21 gene",
        "The cores are p53 and p21; mouse does not cover its one.",
    ),
    "alternatives": Example(
        "alternatives",
        "[human [p53 gene|=alternative]|Gene] and [mouse [p21 gene|=alternative]|Gene]",
        "human [p53 gene|Gene] and mouse [p21|Gene] gene",
        "p53 gene is another way to mark the first span; p21 alone is not one for the second.",
    ),
    "fragment": Example(
        "fragment",
        "[New York|Place] and [Rome|Place]",
        "New [York and|Place] [Rome|Place]",
        "York and Rome are right, New is missed, and is too much.",
    ),
}
"""For each criterion, spans on which it differs from similar criteria."""

CLASS_EXAMPLES: dict[str, Example] = {
    name: Example(name, gold, prediction)
    for name, gold, prediction in (
        ("duplicate", _DOSE, "Give one [[Aspirin|Drug]|Drug] tablet with water."),
        ("split", "[New York City|Place] in May", "[New York|Place] [City|Place] in May"),
        ("merged", "[New York|Place], [Rome|Place] in May", "[New York, Rome|Place] in May"),
        ("type only", _DOSE, "Give one [Aspirin|Brand] tablet with water."),
        ("boundary only", _DOSE, "Give one [Aspirin tablet|Drug] with water."),
        ("type and boundary", _DOSE, "Give one [Aspirin tablet|Brand] with water."),
        ("missed", _DOSE, "Give one Aspirin tablet with water."),
        ("spurious", "Give one Aspirin tablet with water.", _DOSE),
    )
}
"""For each class of errors, an example that has no other."""
