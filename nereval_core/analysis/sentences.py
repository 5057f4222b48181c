"""Sentences that can be read out, computed from the data: words, and numbers that open the records they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nereval_core.analysis.comparison.transitions import Transitions
from nereval_core.glossary import DECISIONS
from nereval_core.records.queries import ABSENT, SAME_TYPE, Ledger, Query, in_documents, narrowed

PAIRED = ("COR", "INC", "PAR")
WORDS = {"COR": "correct", "INC": "incorrect", "PAR": "partial", "MIS": "missed", "SPU": "spurious"}
MOST = 5
"""Documents that count as few."""
FEWEST = 4
"""Records below which it is not said where they stand."""


class Count(NamedTuple):
    """A number in a sentence as it is written, the records it counts, and of which system; "" is the one at hand.

    Counted by token `number` is of tokens, which are what the records weigh.
    """

    text: str
    query: Query
    number: int
    system: str = ""


Sentence = tuple[str | Count, ...]


def in_words(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


def joined(parts: Sequence[str | Count]) -> Sentence:
    """Return a sentence whose neighbouring words stand together."""
    found: list[str | Count] = []
    for part in parts:
        if found and isinstance(part, str) and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return tuple(found)


def count(number: int, query: Query, whole: int = 0, *, system: str = "") -> Count:
    """Return a number that opens its records; of a `whole` it is a share too: `23 (41%)`."""
    share = f" ({percent(number, whole)})" if whole else ""
    return Count(f"{number:,}{share}", query, number, system)


def number_of(noun: str, number: int) -> str:
    """Return a number with its noun: `1 gold span`, `1,000 gold spans`."""
    return f"{number:,} {many(noun, number)}"


def many(noun: str, number: int) -> str:
    """Return a noun as it follows a number."""
    return noun if number == 1 else f"{noun}s"


def percent(part: int, whole: int) -> str:
    """Return a share in per cent; what is neither none nor all is never written as 0% or 100%."""
    if part in (0, whole):
        return "100%" if part else "0%"
    return f"{min(max(round(100 * part / whole), 1), 99)}%"


def transition_sentence(moved: Transitions, one: str, other: str) -> Sentence:
    """Say how many gold spans another system mends and breaks, right being COR, and how many predictions it shares."""
    gold = moved.gold
    fixed, broken = int(gold[1:, 0].sum()), int(gold[0, 1:].sum())
    right, wrong = int(gold[0, 0]), int(gold[1:, 1:].sum())
    every = int(gold.sum())
    if not every:
        return ()

    def against(value: str) -> Query:
        return Query(having=((f"against {other}", value),))

    return (
        f"Of {number_of('gold span', every)}, {other} gets right ",
        count(fixed, against("only the other right")),
        f" that {one} has wrong, and wrong ",
        count(broken, against("only this right")),
        f" that {one} has right; ",
        count(right, against("both right"), every),
        " are right in both, ",
        count(wrong, against("both wrong"), every),
        " in neither.",
    )


def overview_sentence(ledger: Ledger, noun: str = "span") -> Sentence:
    """Say how many gold spans are correct, incorrect, partial and missed, how many predictions spurious, and which type
    is missed most. `noun` is what is counted. Counting each side for itself there is no one number to say."""
    decided = ledger.facet_counts(Query(), "decision")
    paired = sum(decided.get(code, 0) for code in ("COR", "INC", "PAR"))
    gold, predicted = (paired + decided.get(code, 0) for code in ("MIS", "SPU"))
    if not gold:
        return ()
    found = [(code, decided[code]) for code in (*PAIRED, "MIS") if decided.get(code)]
    said: list[str | Count] = ["Of ", count(gold, Query(decision=(*PAIRED, "MIS"))), f" gold {many(noun, gold)}, "]
    for place, (code, number) in enumerate(found):
        said += [count(number, Query(decision=(code,)), gold), f" {'is' if number == 1 else 'are'} {WORDS[code]}"]
        said.append(", " if place < len(found) - 2 else " and " if place < len(found) - 1 else "")
    if predicted:
        spurious = decided.get("SPU", 0)
        said += [
            "; of ",
            count(predicted, Query(decision=(*PAIRED, "SPU"))),
            f" {many('prediction' if noun == 'span' else f'predicted {noun}', predicted)}, ",
            count(spurious, Query(decision=("SPU",)), predicted),
            f" {'is' if spurious == 1 else 'are'} spurious",
        ]
    missed = ledger.facet_counts(Query(decision=("MIS",)), "gold", 1)
    if missed and len(ledger.facet_counts(Query(decision=(*PAIRED, "MIS")), "gold", 2)) > 1:
        ((kind, number),) = missed.items()
        said += [f"; the type missed most is {kind}, ", count(number, Query(decision=("MIS",), gold=(kind,)))]
        said.append(" times" if number > 1 else " time")
    return joined((*said, "."))


def confusion_sentence(ledger: Ledger, documents: int = 0) -> Sentence:
    """Say which type is taken for which most often, and whether that happens in few of the `documents` (0: not asked).

    What needs more of the records than their classes is left out with 0 documents.
    """
    pairs = {pair: n for pair, n in ledger.confusion().items() if ABSENT not in pair and pair[0] != pair[1]}
    whole = sum(pairs.values())
    if not whole:
        return ("No gold span is aligned with a prediction of another type.",)
    (gold, pred), number = min(pairs.items(), key=lambda item: (-item[1], item[0]))
    every = count(whole, Query(having=(("types", SAME_TYPE[1]),))) if documents else f"{whole:,}"
    most = Query(gold=(gold,), pred=(pred,))
    verb = "is" if number == 1 else "are"
    said: Sentence = ("Of ", every, " type errors, " if whole > 1 else " type error, ", count(number, most, whole))
    said = (*said, f" {verb} {pred} for {gold}")
    return joined((*said, *_where(ledger, most, number, documents, " of them"), "."))


def errors_sentence(ledger: Ledger, query: Query, documents: int = 0) -> Sentence:
    """Say of the records that match a query which decision most of them have, of which type these are, and whether
    they stand in few of the `documents` (0: not asked)."""
    whole = ledger.total(query).weight
    asked = [code for code in DECISIONS if not query.decision or code in query.decision]
    counts = ledger.facet_counts(query, "decision")
    decided = [(code, counts[code]) for code in asked if counts.get(code)]
    if whole < 2:
        return ()
    said: list[str | Count] = ["Of ", count(whole, query), " records, "]
    code, number = max(decided, key=lambda item: item[1])
    narrow = query
    if len(decided) > 1:
        narrow = replace(query, decision=(code,))
        said += [count(number, narrow, whole), f" {'is' if number == 1 else 'are'} {WORDS[code]}"]
    facet = "pred" if code == "SPU" else "gold"
    kinds = {} if getattr(query, facet) else ledger.facet_counts(narrow, facet, 2)
    if len(kinds) > 1:
        kind, most = next(iter(kinds.items()))
        before = ", " if len(decided) > 1 else ""
        said += [
            before,
            count(most, narrowed(narrow, facet, kind), number),
            f" of them {kind}" if before else f" {kind}",
        ]
    where = () if query.doc else _where(ledger, query, whole, documents, " of all" if len(said) > 3 else "")
    # What comes first in the sentence has no semicolon before it.
    said += where if len(said) > 3 else where[1:]
    return joined((*said, ".")) if len(said) > 3 else ()


def _where(ledger: Ledger, query: Query, number: int, documents: int, of: str) -> Sentence:
    """Say in how few documents half of the records stand; nothing where these are more than a quarter of all."""
    if not documents or number < FEWEST:
        return ()
    reached: list[str] = []
    sum_ = 0
    for name, records in ledger.facet_counts(query, "doc", MOST).items():
        reached.append(name)
        sum_ += records
        if 2 * sum_ >= number:
            break
    if 2 * sum_ < number or 4 * len(reached) > documents:
        return ()
    # A link holds the names of the documents.
    asked = replace(query, having=(*query.having, in_documents(reached)))
    place = f"document {reached[0]}" if len(reached) == 1 else f"{len(reached)} of {documents:,} documents"
    return ("; ", count(sum_, asked, number), f"{of} {'stands' if sum_ == 1 else 'stand'} in {place}")


__all__: Sequence[str] = (
    "Count",
    "Sentence",
    "confusion_sentence",
    "count",
    "errors_sentence",
    "in_words",
    "many",
    "number_of",
    "overview_sentence",
    "percent",
    "transition_sentence",
)
