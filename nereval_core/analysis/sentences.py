"""Sentences about results: words and numbers as all analyses write them, and counts that link to their records.

Numbers, intervals, significance and corrections of tests are put in words here alone; sentences on the records of one
system come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nereval_core.records.queries import ABSENT, SAME_TYPE, CountedRecords, Query, in_documents, narrowed
from nereval_core.tables.glossary import DECISIONS

PAIRED = ("COR", "INC", "PAR")
DECISIONS_IN_WORDS = {"COR": "correct", "INC": "incorrect", "PAR": "partial", "MIS": "missed", "SPU": "spurious"}
MOST_DOCUMENTS_NAMED = 5
"""Documents that are named at most as those where records cluster."""
FEWEST_RECORDS_PLACED = 4
"""Records below which no documents are named."""


class RecordCount(NamedTuple):
    """A number in a sentence as written, and the query of its records.

    Under a criterion that counts tokens, `number` is a number of tokens, the weight of the records.
    """

    text: str
    query: Query
    number: int


Sentence = tuple[str | RecordCount, ...]


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


def join_parts(parts: Sequence[str | RecordCount]) -> Sentence:
    """Return a sentence with adjacent texts joined into one part."""
    joined: list[str | RecordCount] = []
    for part in parts:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def record_count(number: int, query: Query, whole: int = 0) -> RecordCount:
    """Return a count that opens its records, with its share of a `whole`, if given: `23 (41%)`."""
    share = f" ({percent(number, whole)})" if whole else ""
    return RecordCount(f"{number:,}{share}", query, number)


def number_with_noun(noun: str, number: int) -> str:
    """Return a number with its noun: `1 gold span`, `1,000 gold spans`."""
    return f"{number:,} {plural(noun, number)}"


def plural(noun: str, number: int) -> str:
    """Return a noun in the form that follows a number."""
    return noun if number == 1 else f"{noun}s"


def is_or_are(number: int) -> str:
    """Return the verb that a number of things takes."""
    return "is" if number == 1 else "are"


def has_or_have(number: int) -> str:
    """Return the verb that a number of things takes."""
    return "has" if number == 1 else "have"


def name_list(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def percent(part: int, whole: int) -> str:
    """Return a share in per cent; only none is written as 0% and only all as 100%."""
    if part in (0, whole):
        return "100%" if part else "0%"
    return f"{min(max(round(100 * part / whole), 1), 99)}%"


def percent_of_resamples(share: float) -> str:
    """Return a share in whole percents; only 0 is shown as 0% and only 1 as 100%."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def interval_in_words(level: float, low: float, high: float) -> str:
    """Return an interval of a figure: `95% interval 0.712 to 0.801`."""
    return f"{level:.0%} interval {low:.3f} to {high:.3f}"


def significance_in_words(level: float, over: str = "") -> str:
    """Return the p of a significant test: `p at most 0.05`, and over what Holm's correction was made, if it was."""
    return f"p at most {1 - level:.2g}{f' {holm_in_words(over)}' if over else ''}"


def holm_in_words(over: str) -> str:
    """Return over what p values were corrected: `after Holm's correction over 3 systems`."""
    return f"after Holm's correction over {over}"


def ranking_method(intervals: str, level: float, tests: int, facet: str = "") -> str:
    """Return how a ranking was made, a line for intervals and one for brackets where pairs were tested.

    `intervals` says how intervals were made; so many pairs were tested, in each of the `facet` where there are several.
    """
    if not tests:
        return intervals
    each = f" in each {facet}" if facet else ""
    over = holm_in_words(f"{tests} pairs") if tests > 1 else ""
    return (
        f"{intervals}\na bracket joins a system with the next below that is significantly worse "
        f"(p at most {1 - level:.2g}{f' {over}' if over else ''}){each}"
    )


MOST_TIED = 2
"""Types of one count that a sentence names."""


def overview_sentence(ledger: CountedRecords, noun: str = "span") -> Sentence:
    """Return the sentence on the decisions about gold spans, on spurious predictions and the type missed most.

    `noun` names the unit counted.
    """
    decided = ledger.facet_counts(Query(), "decision")
    paired = sum(decided.get(code, 0) for code in ("COR", "INC", "PAR"))
    gold, predicted = (paired + decided.get(code, 0) for code in ("MIS", "SPU"))
    if not gold:
        return ()
    counts = [(code, decided[code]) for code in (*PAIRED, "MIS") if decided.get(code)]
    parts: list[str | RecordCount] = [
        "Of ",
        record_count(gold, Query(decision=(*PAIRED, "MIS"))),
        f" gold {plural(noun, gold)}, ",
    ]
    for place, (code, number) in enumerate(counts):
        parts += [
            record_count(number, Query(decision=(code,)), gold),
            f" {is_or_are(number)} {DECISIONS_IN_WORDS[code]}",
        ]
        parts.append(", " if place < len(counts) - 2 else " and " if place < len(counts) - 1 else "")
    if predicted:
        spurious = decided.get("SPU", 0)
        parts += [
            "; of ",
            record_count(predicted, Query(decision=(*PAIRED, "SPU"))),
            f" {plural('prediction' if noun == 'span' else f'predicted {noun}', predicted)}, ",
            record_count(spurious, Query(decision=("SPU",)), predicted),
            f" {is_or_are(spurious)} spurious",
        ]
    missed = ledger.facet_counts(Query(decision=("MIS",)), "gold")
    if missed and len(ledger.facet_counts(Query(decision=(*PAIRED, "MIS")), "gold", 2)) > 1:
        number = max(missed.values())
        most = [kind for kind, n_missed in missed.items() if n_missed == number]
        beginning = "; the type missed most is "
        if len(most) > 1:
            beginning = "; the types missed most are "
        if len(most) > MOST_TIED:
            beginning = f"; {len(most)} types are missed most, among them "
        for place, kind in enumerate(most[:MOST_TIED]):
            parts.append(f"{beginning if not place else ' and '}{kind}, ")
            parts.append(record_count(number, Query(decision=("MIS",), gold=(kind,))))
            parts.append(" times" if number > 1 else " time")
    return join_parts((*parts, "."))


def confusion_sentence(ledger: CountedRecords, documents: int = 0) -> Sentence:
    """Return the sentence on the most frequent confusion of types, and on the few of all `documents` it clusters in.

    With 0 documents it leaves out all that needs more than the counts of confusions.
    """
    pairs = {pair: n for pair, n in ledger.confusion().items() if ABSENT not in pair and pair[0] != pair[1]}
    whole = sum(pairs.values())
    if not whole:
        return ("No gold span is aligned with a prediction of another type.",)
    (gold, pred), number = min(pairs.items(), key=lambda item: (-item[1], item[0]))
    errors = record_count(whole, Query(having=(("types", SAME_TYPE[1]),))) if documents else f"{whole:,}"
    most = Query(gold=(gold,), pred=(pred,))
    parts: Sentence = (
        "Of ",
        errors,
        " type errors, " if whole > 1 else " type error, ",
        record_count(number, most, whole),
    )
    parts = (*parts, f" {has_or_have(number)} {pred} in place of {gold}")
    return join_parts((*parts, *_few_documents(ledger, most, number, documents, " of them"), "."))


def errors_sentence(ledger: CountedRecords, query: Query, documents: int = 0) -> Sentence:
    """Return the sentence on the records of a query: their most frequent decision, its most frequent type, and the few
    of all `documents` that most are in (0: not looked at)."""
    whole = ledger.total(query).weight
    codes = [code for code in DECISIONS if not query.decision or code in query.decision]
    counts = ledger.facet_counts(query, "decision")
    decided = [(code, counts[code]) for code in codes if counts.get(code)]
    if whole < 2:
        return ()
    parts: list[str | RecordCount] = ["Of ", record_count(whole, query), " records, "]
    code, number = max(decided, key=lambda item: item[1])
    narrow = query
    if len(decided) > 1:
        narrow = replace(query, decision=(code,))
        parts += [record_count(number, narrow, whole), f" {is_or_are(number)} {DECISIONS_IN_WORDS[code]}"]
    facet = "pred" if code == "SPU" else "gold"
    kinds = {} if getattr(query, facet) else ledger.facet_counts(narrow, facet, 2)
    if len(kinds) > 1:
        kind, most = next(iter(kinds.items()))
        before = ", " if len(decided) > 1 else ""
        parts += [
            before,
            record_count(most, narrowed(narrow, facet, kind), number),
            f" of them {kind}" if before else f" {kind}",
        ]
    where = () if query.doc else _few_documents(ledger, query, whole, documents, " of all" if len(parts) > 3 else "")
    # The first statement of a sentence follows no semicolon.
    parts += where if len(parts) > 3 else where[1:]
    return join_parts((*parts, ".")) if len(parts) > 3 else ()


def _few_documents(ledger: CountedRecords, query: Query, number: int, documents: int, of: str) -> Sentence:
    """Return the documents with half of the records, if these are at most MOST_DOCUMENTS_NAMED and a quarter of all."""
    if not documents or number < FEWEST_RECORDS_PLACED:
        return ()
    reached: list[str] = []
    sum_ = 0
    for name, records in ledger.facet_counts(query, "doc", MOST_DOCUMENTS_NAMED).items():
        reached.append(name)
        sum_ += records
        if 2 * sum_ >= number:
            break
    if 2 * sum_ < number or 4 * len(reached) > documents:
        return ()
    # The link names the documents.
    narrowed_query = replace(query, having=(*query.having, in_documents(reached)))
    place = f"document {reached[0]}" if len(reached) == 1 else f"{len(reached)} of {documents:,} documents"
    return ("; ", record_count(sum_, narrowed_query, number), f"{of} {'stands' if sum_ == 1 else 'stand'} in {place}")
