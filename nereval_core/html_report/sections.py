"""The sections of a report on scored systems, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nereval_core.analysis.comparison import headline, ranking_sentences
from nereval_core.analysis.comparison.tables import pair_table, ranking_table, score_table
from nereval_core.analysis.errors import ErrorReport, error_report
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.errors.tables import error_class_table
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.sentences import confusion_sentence, number_with_noun, overview_sentence, ranking_method
from nereval_core.analysis.slices.calibration import Calibration, calibration
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SMALL_SLICE_SPANS
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.tables import calibration_table
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.corpus.masking import is_masked
from nereval_core.html_report.page import (
    RECORDS,
    Count,
    FigureData,
    Lines,
    Paragraph,
    Report,
    ReportTable,
    Section,
    Terms,
)
from nereval_core.html_report.records import RecordNotes, Records, RecordSelection, ScoredSystems
from nereval_core.pairing import notices_of
from nereval_core.problems import capitalised
from nereval_core.records.queries import ABSENT
from nereval_core.report.score_tables import confusion_grid, criterion_table, grid_values, type_table
from nereval_core.report.signature import signature, together
from nereval_core.review.layer_words import figure_by_names
from nereval_core.tables import DAGGER, Table
from nereval_core.tables.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY

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
    trust = tuple(_calibration(scored, records))
    sections = (
        Section("overview", "Overview", tuple(_overview(scored, records))),
        Section("systems", _title_of_systems(scored), tuple(_systems(scored, records))),
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
        f"{number_with_noun('document', len(corpus.documents))}, "
        f"{scored.words().by_names(number_with_noun('gold span', len(corpus.gold)))} of "
        f"{number_with_noun('type', len(corpus.gold.types))}; "
        f"{number_with_noun(scored.noun, len(scored.systems))}: {systems}.",
        *([MASKED] if is_masked(corpus.documents) else []),
    ]
    return Report(title, tuple(about), signature(scored.first, scored.main), sections)


def _overview(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | ReportTable]:
    noun = "token" if scored.is_by_token(scored.main) else "span"
    for layer in scored.corpus.systems:
        for notice in notices_of(scored.corpus.gold, layer, reference=scored.reference):
            yield Paragraph((f"{layer.name}: {notice}.",))
    for system in scored.systems:
        sentence = overview_sentence(scored.ledger(system, scored.main), noun)
        yield from records.sentence(system, f"{system}, under {scored.main}: ", sentence, scored.main)
    title = f"Scores of each {scored.noun} under each matching criterion"
    notes = ("a number that is a link leads to its records in this report",)
    yield records.table(criterion_table(title, scored.scores, scored.names, notes), scored.systems[0])


def _title_of_systems(scored: ScoredSystems) -> str:
    return "Intervals" if scored.annotators or len(scored.systems) == 1 else "Systems"


def _systems(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | FigureData | ReportTable | Lines]:
    """Yield F1 with intervals; systems are ranked and their differences tested, annotators are not."""
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.comparison import leaderboard

    comparison, main = scored.comparison, scored.main
    plan, units, words = comparison.plan, comparison.units, scored.words()
    is_ranked = len(scored.systems) > 1 and not scored.annotators
    method = units.intervals_in_words(plan.level, plan.resamples)
    title = "F1 by matching criterion"
    if not is_ranked:
        table = ranking_table(title, comparison.intervals, "criterion", "criterion")
        yield records.table(replace(table, notes=(method, *table.notes, *comparison.warnings)))
    else:
        best = headline(comparison.intervals, plan, units)
        first = comparison.words[0] if best is None else "".join(best[:3])
        sentences = (first, *ranking_sentences(comparison), *comparison.warnings)
        yield Paragraph((" ".join(f"{capitalised(text, scored.systems)}." for text in sentences),))
        rows, pairs = (table[table["criterion"].eq(main)] for table in (comparison.intervals, comparison.all_pairs))
        tested = pairs[pairs["p_holm"].notna()]
        tests = int(tested["tests"].max()) if len(tested) else 0
        figure = leaderboard(
            rows,
            ranking_method(method, plan.level, tests),
            (units.singular, units.plural),
            apart=tested[are_significant(tested, plan.level)],
            resamples=plan.resamples,
        )
        yield figure_data(figure_by_names(figure, words), above=40)
        table = score_table(title, comparison.intervals, comparison.differences, comparison.leads, plan.level)
        dagger = f"{DAGGER} differs significantly from {comparison.baseline}"
        yield records.table(replace(table, notes=(method, *table.notes, dagger)))
        yield records.table(pair_table(pairs, scored.systems, plan.level, main))
    signed = (
        f"{system}: {line}" for system, lines in comparison.signatures.items() for line in together(lines.values())
    )
    yield Lines("Signatures of these intervals", tuple(signed))


def _confusion(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | FigureData | ReportTable]:
    for system in scored.systems[:MOST_SYSTEMS]:
        ledger = scored.ledger(system, scored.main)
        cells = ledger.confusion()
        types, left_out = _most(scored, cells)
        sentence = confusion_sentence(ledger, len(scored.corpus.documents))
        yield from records.sentence(system, f"{system}: ", sentence, scored.main)
        words = scored.words(system)
        title = f"Types of {system} against {words.reference}, under {scored.main}"
        notes = (f"Not shown are {number_with_noun('type', left_out)} with fewer spans.",) if left_out else ()
        absent = words.name("SPU"), words.name("MIS")
        table = confusion_grid(f"{title}, in numbers", cells, types, scored.main, notes, absent=absent)
        in_numbers = records.table(table, system, folded=True)
        unit = "tokens" if scored.is_by_token(scored.main) else "records"
        sides = words.by_names("gold types down, predicted types across")
        yield _map(title, f"{unit}, {sides}", table, records, in_numbers)
        yield in_numbers
    if len(scored.systems) > MOST_SYSTEMS:
        yield Paragraph((f"Of {len(scored.systems):,} systems the first {MOST_SYSTEMS} are shown.",))


def _map(title: str, unit: str, table: Table, records: Records, in_numbers: ReportTable) -> FigureData:
    """Draw the counts of a table as a heat map; a click leads to the records of a cell."""
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.scores import confusion_map

    grid = grid_values(table)
    links = [
        [
            (" ".join(cell.required), cell.number) if isinstance(cell, Count) and records.is_linked(cell) else ()
            for cell in row[1:]
        ]
        for row in in_numbers.rows
    ]
    total = int(grid.counts.to_numpy().sum())
    return figure_data(confusion_map(grid.values, grid.texts, links, title, unit, total))


def _most(scored: ScoredSystems, cells: Mapping[tuple[str, str], int]) -> tuple[list[str], int]:
    """Return the types with most records, sorted by name, and the number of other types."""
    sums = dict.fromkeys(scored.types, 0)
    for pair, number in cells.items():
        for type_name in set(pair) - {ABSENT}:
            sums[type_name] += number
    most = sorted(sums, key=lambda type_name: (-sums[type_name], type_name))[:MOST_TYPES]
    return sorted(most), len(sums) - len(most)


def _errors(
    scored: ScoredSystems, records: Records, errors: Mapping[str, ErrorReport]
) -> Iterator[Paragraph | ReportTable | FigureData]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.scores import gain_bars

    main = scored.main
    for system, of_system in errors.items():
        yield from records.sentence(system, f"{system}: ", of_system.sentence(main), STRICT)
    counts = [scores.counts(main) for scores in scored.scores.values()]
    words = scored.words()
    classes = {
        system: of_system.classes[main].assign(**{"class": of_system.classes[main]["class"].map(words.error_class)})
        for system, of_system in errors.items()
    }
    predicted = [of_system.act for of_system in counts]
    bars = gain_bars(classes, main, counts[0].pos, predicted, noun=scored.noun)
    yield figure_data(figure_by_names(bars, words), above=40)
    for system, of_system in errors.items():
        table = error_class_table(of_system, main, system)
        rows = tuple(row for row in table.rows if row[1] != 0)
        yield records.table(replace(table, rows=rows), system)


def _types(scored: ScoredSystems, records: Records) -> Iterator[ReportTable | FigureData]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.scores import type_dots

    main = scored.main
    by_type = {system: scores.by_type(main) for system, scores in scored.scores.items()}
    spans = dict.fromkeys(scored.types, 0)
    for of_system in by_type.values():
        for type_name, counts in of_system.items():
            spans[type_name] = max(spans[type_name], counts.pos)
    types = sorted(spans, key=lambda type_name: (-spans[type_name], type_name))
    yield figure_data(figure_by_names(type_dots(by_type, types[:MOST_TYPES], main), scored.words()), above=40)
    left_out = len(types) - len(types[:MOST_TYPES])
    notes = (
        "Recall counts the gold spans of a type, precision its predictions.",
        *([f"Not shown are {number_with_noun('type', left_out)} with fewer gold spans."] if left_out else []),
    )
    title = f"Scores by type, under {main}"
    yield records.table(type_table(title, scored.scores, main, types[:MOST_TYPES], notes=notes), scored.systems[0])


def _calibration(scored: ScoredSystems, records: Records) -> Iterator[Paragraph | FigureData | ReportTable | Lines]:
    """Yield figures, errors and bins of the first MOST_SYSTEMS whose predictions have scores.

    Nothing is yielded where no prediction has a score or the main criterion counts tokens.
    """
    main, signed = scored.main, []
    for system, scores in tuple(scored.scores.items())[:MOST_SYSTEMS]:
        sweep = sweep_thresholds(scores, main)
        if sweep is not None:
            sliced = SlicedScores(scores, main, (scored.corpus.gold, scored.corpus.system(system)))
            report = calibration(sliced, sweep)
            yield from _calibration_of(system, main, report, records)
            signed.append(f"{system}: {signature(scores, main, intervals=report.units.signature(SLICE_PLAN))}")
    if signed:
        yield Lines("Signatures of these intervals", tuple(signed))


def _calibration_of(
    system: str, main: str, report: Calibration, records: Records
) -> Iterator[Paragraph | FigureData | ReportTable]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.slices import reliability, risk_curve

    risk = report.risk
    sentences = (*report.error_sentences(), risk.sentence(), *report.threshold_sentences(), report.note())
    words = records.scored.words(system)
    in_words = ". ".join(capitalised(words.by_names(text), (system,)) for text in sentences)
    yield Paragraph((f"{system}, under {main}: {in_words}.",))
    for binning, frame in report.bins.items():
        title = f"Precision of {system} in bins of {binning}, under {main}"
        errors = report.error_sentences(binning)[0]
        figure = reliability(frame, title, errors, SMALL_SLICE_SPANS, diagonal=not report.refusal)
        yield figure_data(figure, above=40)
        table = calibration_table(f"{system}: {main}", report, binning)
        yield records.table(replace(table, title=f"{title}, in numbers"), system, folded=True)
    title = f"Risk of {system} by coverage, under {main}"
    yield figure_data(risk_curve(risk.points, title, risk.area, risk.risk), above=40)


def _glossary(scored: ScoredSystems) -> Iterator[Terms]:
    rows = []
    for name in dict.fromkeys((*scored.names, STRICT)):
        criterion = scored.first.criterion(name)
        meaning = criterion.sentence or criterion.rule()
        rows.append((f"criterion {name}", f"{meaning} ({criterion.source})" if criterion.source else meaning))
    words = scored.words()
    for code in (*DECISIONS, "POS", "ACT", "P", "R", "F1", *ERROR_CLASSES):
        term = GLOSSARY[code]
        formula = f" {code} = {term.formula}." if term.formula else ""
        label = words.error_class(code) if words.by_name and code in ERROR_CLASSES else words.label(code)
        label = f"{label} ({code})" if words.by_name and code in DECISIONS else label
        rows.append((label, words.meaning_of(code) + formula))
    yield Terms(tuple(rows))


def _reproduce(scored: ScoredSystems, command: str) -> Iterator[Lines | Paragraph]:
    yield Lines("Command", (command,))
    yield Paragraph(
        (
            "A signature names the data that were scored, by digests of their content, independent of file names, "
            "the rules of scoring, and the changes made to the data before.",
        )
    )
    by_system = {
        system: together(signature(scores, name) for name in scored.names) for system, scores in scored.scores.items()
    }
    yield Lines("Signatures", tuple(f"{system}: {line}" for system, lines in by_system.items() for line in lines))
