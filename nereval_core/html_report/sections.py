"""The sections of a report on scored systems, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from nereval_core.analysis.errors import ErrorReport, error_report
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.errors.tables import error_class_table
from nereval_core.analysis.sentences import confusion_sentence, overview_sentence
from nereval_core.corpus.masking import is_masked
from nereval_core.html_report.calibration import calibration_parts
from nereval_core.html_report.page import (
    RECORDS,
    Cell,
    FigureData,
    Lines,
    Paragraph,
    Report,
    ReportTable,
    Section,
    Terms,
)
from nereval_core.html_report.records import RecordNotes, Records, RecordSelection, ScoredSystems, many
from nereval_core.pairing.notices import notices_of
from nereval_core.records.queries import ABSENT, Query
from nereval_core.records.tables import MISSED, SPURIOUS
from nereval_core.report.signature import signature, together
from nereval_core.scoring import Counts
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY, decision_label

MOST_TYPES, MOST_SYSTEMS = 16, 8
"""Types in tables and figures, those with most spans; systems whose confusions and calibration are shown."""
MASKED = "Texts are masked: letters and digits are replaced; offsets and scores are those of the original texts."


def report(
    scored: ScoredSystems,
    *,
    title: str,
    command: str,
    selection: RecordSelection | None = None,
    notes_on: RecordNotes = lambda ledger, position: (),
) -> Report:
    """Return the report on scored systems; `command` makes the report again.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    selection = selection or RecordSelection()
    records = Records(scored, selection, notes_on)
    errors = {system: error_report(scores, [scored.main]) for system, scores in scored.scores.items()}
    trust = tuple(calibration_parts(scored, MOST_SYSTEMS))
    sections = (
        Section("overview", "Overview", tuple(_overview(scored, records))),
        Section("confusion", "Confusion", tuple(_confusion(scored, records))),
        Section("errors", "Error classes", tuple(_errors(scored, records, errors))),
        Section("types", "By type", tuple(_types(scored, records))),
        *((Section("calibration", "Calibration of scores", trust),) if trust else ()),
        Section(RECORDS, "Records", tuple(records.parts())),
        Section("glossary", "Glossary", tuple(_glossary(scored))),
        Section("reproduce", "Reproduction", tuple(_reproduce(scored, command))),
    )
    corpus = scored.corpus
    systems = ", ".join(scored.systems)
    about = [
        f"{many(len(corpus.documents), 'document')}, {many(len(corpus.gold), 'gold span')} of "
        f"{many(len(corpus.gold.types), 'type')}; {many(len(scored.systems), 'system')}: {systems}.",
        *([MASKED] if is_masked(corpus.documents) else []),
    ]
    return Report(title, tuple(about), signature(scored.first, scored.main), sections)


def _overview(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | ReportTable]:
    noun = "token" if scored.is_by_token(scored.main) else "span"
    for layer in scored.corpus.systems:
        for notice in notices_of(scored.corpus.gold, layer):
            yield Paragraph((f"{layer.name}: {notice}.",))
    for system in scored.systems:
        sentence = overview_sentence(scored.ledger(system, scored.main), noun)
        yield records.paragraph(system, (f"{system}, under {scored.main}: ", *sentence), scored.main)
    rows: list[tuple[Cell, ...]] = []
    for system, scores in scored.scores.items():
        for name in scored.names:
            counts = scores.counts(name)
            numbers = zip(DECISIONS, (counts.cor, counts.inc, counts.par, counts.mis, counts.spu), strict=True)
            rows.append(
                (
                    *(system, name, counts.precision, counts.recall, counts.f1),
                    *(records.count(n or 0, system, name, Query(decision=(code,))) for code, n in numbers),
                    *(counts.pos, counts.act),
                )
            )
    yield ReportTable(
        "Scores of each system under each matching criterion",
        ("system", "criterion", "P", "R", "F1", *DECISIONS, "POS", "ACT"),
        tuple(rows),
        ("A number that is a link leads to its records in this report.",),
        heads=2,
    )


def _confusion(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | FigureData | ReportTable]:
    for system in scored.systems[:MOST_SYSTEMS]:
        found = scored.ledger(system, scored.main)
        cells = found.confusion()
        types, left = _most(scored, cells)
        sentence = confusion_sentence(found, len(scored.corpus.documents))
        yield records.paragraph(system, (f"{system}: ", *sentence), scored.main)
        names = _named(types)
        counts = [[cells.get((gold, pred), 0) for pred in (*types, ABSENT)] for gold in (*types, ABSENT)]
        title = f"Types of {system} against gold, under {scored.main}"
        rows: list[tuple[Cell, ...]] = []
        asked: list[list[tuple[object, ...]]] = []
        for gold, name, numbers in zip((*types, ABSENT), names[0], counts, strict=True):
            row = [
                records.count(number, system, scored.main, Query(gold=(gold,), pred=(pred,)))
                for pred, number in zip((*types, ABSENT), numbers, strict=True)
            ]
            rows.append((name, *(one if one.number else "" for one in row)))
            asked.append([(" ".join(one.asked), one.number) if records.is_linked(one) else () for one in row])
        unit = "tokens" if scored.is_by_token(scored.main) else "records"
        yield _map(title, f"{unit}, gold types down, predicted types across", names, counts, asked)
        notes = [f"Not shown are {many(left, 'type')} with fewer spans."] if left else []
        yield ReportTable(f"{title}, in numbers", ("gold type", *names[1]), tuple(rows), tuple(notes), folded=True)
    if len(scored.systems) > MOST_SYSTEMS:
        yield Paragraph((f"Of {len(scored.systems):,} systems the first {MOST_SYSTEMS} are shown.",))


def _map(
    title: str,
    unit: str,
    names: tuple[list[str], list[str]],
    counts: list[list[int]],
    asked: Sequence[Sequence[object]],
) -> FigureData:
    """Draw counts as a heat map; a click leads to the records of a cell."""
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.scores import confusion_map

    table = pd.DataFrame(counts, names[0], names[1])
    values = table.astype("float64").mask(table == 0)
    texts = table.astype(TEXT_DTYPE).mask(table == 0, "")
    return figure_data(confusion_map(values, texts, asked, title, unit, int(np.sum(counts))))


def _most(scored: ScoredSystems, cells: Mapping[tuple[str, str], int]) -> tuple[list[str], int]:
    """Return the types with most records, sorted by name, and the number of other types."""
    sums = dict.fromkeys(scored.types, 0)
    for pair, number in cells.items():
        for kind in set(pair) - {ABSENT}:
            sums[kind] += number
    kept = sorted(sums, key=lambda kind: (-sums[kind], kind))[:MOST_TYPES]
    return sorted(kept), len(sums) - len(kept)


def _named(types: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of rows and columns; the last ones differ from all names of types."""
    last = []
    for name in (SPURIOUS, MISSED):
        while name in types:
            name = f"({name})"
        last.append(name)
    return [*types, last[0]], [*types, last[1]]


def _errors(
    scored: ScoredSystems, records: Records, errors: Mapping[str, ErrorReport]
) -> Iterator[Paragraph | ReportTable | FigureData]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.errors import gain_bars

    main = scored.main
    for system, found in errors.items():
        yield records.paragraph(system, (f"{system}: ", *found.sentence(main)), STRICT)
    counts = [scores.counts(main) for scores in scored.scores.values()]
    classes = {system: found.classes[main] for system, found in errors.items()}
    yield figure_data(gain_bars(classes, main, counts[0].pos, [one.act for one in counts]), above=40)
    for system, found in errors.items():
        table = error_class_table(found, main, system)
        is_met = [row[1] != 0 for row in table.rows]
        rows = tuple(row for row, met in zip(table.rows, is_met, strict=True) if met)
        yield records.table(replace(table, rows=rows), system)


def _types(scored: ScoredSystems, records: Records) -> Iterator[ReportTable | FigureData]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.scores import type_dots

    main = scored.main
    by_type = {system: scores.by_type(main) for system, scores in scored.scores.items()}
    spans = dict.fromkeys(scored.types, 0)
    for found in by_type.values():
        for kind, counts in found.items():
            spans[kind] = max(spans[kind], counts.pos)
    types = sorted(spans, key=lambda kind: (-spans[kind], kind))
    kept = types[:MOST_TYPES]
    yield figure_data(type_dots(by_type, kept, main), above=40)
    rows: list[tuple[Cell, ...]] = []
    for kind in kept:
        for system, found in by_type.items():
            counts = found.get(kind, Counts())
            own = (Query(decision=("MIS",), gold=(kind,)), Query(decision=("SPU",), pred=(kind,)))
            numbers = (records.count(n, system, main, q) for n, q in zip((counts.mis, counts.spu), own, strict=True))
            ratios = (counts.precision, counts.recall, counts.f1)
            rows.append((kind, system, *ratios, counts.pos, counts.act, *numbers))
    left = len(types) - len(kept)
    yield ReportTable(
        f"Scores by type, under {main}",
        ("type", "system", "P", "R", "F1", "POS", "ACT", "MIS", "SPU"),
        tuple(rows),
        (
            "Recall counts the gold spans of a type, precision its predictions.",
            *([f"Not shown are {many(left, 'type')} with fewer gold spans."] if left else []),
        ),
        heads=2,
    )


def _glossary(scored: ScoredSystems) -> Iterator[Terms]:
    rows = []
    for name in dict.fromkeys((*scored.names, STRICT)):
        criterion = scored.first.criterion(name)
        said = criterion.sentence or criterion.rule()
        rows.append((f"criterion {name}", f"{said} ({criterion.source})" if criterion.source else said))
    for code in (*DECISIONS, "POS", "ACT", "P", "R", "F1", *ERROR_CLASSES):
        term = GLOSSARY[code]
        formula = f" {code} = {term.formula}." if term.formula else ""
        rows.append((decision_label(code) if code in DECISIONS else term.label, term.sentence + formula))
    yield Terms(tuple(rows))


def _reproduce(scored: ScoredSystems, command: str) -> Iterator[Lines | Paragraph]:
    yield Lines("Command", (command,))
    yield Paragraph(
        (
            "A signature names the data that were scored, by digests of their content, independent of file names, "
            "the rules of scoring, and the changes made to the data before.",
        )
    )
    every = (
        (f"{system}: ", signature(scores, name)) for system, scores in scored.scores.items() for name in scored.names
    )
    by_system: dict[str, list[str]] = {}
    for system, line in every:
        by_system.setdefault(system, []).append(line)
    yield Lines(
        "Signatures", tuple(f"{system}{line}" for system, lines in by_system.items() for line in together(lines))
    )
