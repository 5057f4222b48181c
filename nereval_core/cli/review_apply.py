"""The verbs `review apply`, `review what-if` and `review adjudicate`: verdicts back into the data."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from nereval_core import writers
from nereval_core.api.load import Loaded, check_criteria
from nereval_core.cli.files import beside_gold, files_of, gold_name, named, named_systems
from nereval_core.cli.options import ALL, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import STDOUT, listed, put_out, say, say_unused
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.report import TABLES
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Sheet
from nereval_core.report.table_cells import cells, objects
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.review.apply import Applied, accepted, applied
from nereval_core.review.apply.adjudication import adjudicate as adjudicated
from nereval_core.review.apply.corrected_copy import log_csv, log_rows, signature, write_copy, written
from nereval_core.review.apply.deciding_verdicts import Hanging, every_pair
from nereval_core.review.apply.settlement import REASONS
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.apply.what_if import what_if as scored_both
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS

FORMS = TABLES
NAMED = {"f1": "F1", "precision": "P", "recall": "R"}


def apply(options: argparse.Namespace) -> str | None:
    """Write a corrected copy of gold with the log of its changes beside it."""
    if wrong := _unwritable(options):
        return wrong
    reviewed, kept = _reviewed(options)
    loaded = _loaded(options)
    found = applied(loaded.corpus.gold, reviewed, loaded.corpus.systems, only_this_document=options.only_this_document)
    signed = signature(found)
    _write(options, found.layer, log_csv(log_rows(found.log), signed), kept)
    _say_counts(found)
    print(signed)
    return None


def what_if(options: argparse.Namespace) -> str | None:
    """Print every score beside what it would be, and what the order of systems hangs on."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = misplaced(options, targets) or _unknown_kind(options)
    if wrong:
        return wrong
    settings = settings_of(options)
    reviewed, kept = _reviewed(options)
    if kept is not None and os.path.realpath(kept) in {os.path.realpath(place) for place in targets.values()}:
        return f"{quoted(os.fspath(kept))} would be overwritten, name another FILE"
    loaded = _loaded(options)
    say_unused(settings, loaded)
    corpus = loaded.corpus
    found = applied(corpus.gold, reviewed, corpus.systems, only_this_document=options.only_this_document)
    both = scored_both(found, corpus.systems, settings)
    if ALL not in listed([options.criteria or ""]):
        lacking = [criterion for criterion in settings.criteria if criterion not in both.settings.criteria]
        check_criteria(lacking, corpus.gold, source="--criteria")
    pairs = every_pair(found, corpus.systems, both.settings) if options.hangs else {}
    sheets = _sheets(both, list(pairs.values()), options.hangs)
    make = {"json": lambda: _json(both, loaded, list(pairs.values()))}
    put_out(targets, {form: in_form(form, sheets, lambda: _long(both), make) for form in targets})
    _say_counts(found)
    if STDOUT not in targets.values():
        print(as_screen(sheets), end="")
    return None


def adjudicate(options: argparse.Namespace) -> str | None:
    """Make one layer of two annotators and write it as a corrected copy is written."""
    if len(named_systems(options)) != 1 or not beside_gold(options.files):
        return f"two annotators are wanted, {1 + len(named(beside_gold(options.files)))} given"
    if wrong := _unwritable(options):
        return wrong
    reviewed, kept = _reviewed(options)
    loaded = _loaded(options)
    corpus = loaded.corpus
    first = corpus.gold.renamed(gold_name(options))
    found = adjudicated(first, corpus.systems[0], reviewed, only_this_document=options.only_this_document)
    _say_applied(found.applied)
    _write(options, found.layer, log_csv(found.log, found.signature), kept)
    say(f"agreed: {found.agreed}; open: {len(found.open)}, not in the layer")
    for row in found.open[:SHOWN]:
        say(f"open: {row.document} {row.record} {quoted(row.quote)}: {row.reason}")
    if len(found.open) > SHOWN:
        say(f"open: {len(found.open) - SHOWN} more, all in the log")
    print(found.signature)
    return None


SHOWN = 20
"""Records that are open that are said on the screen; the log has all."""


def _unwritable(options: argparse.Namespace) -> str | None:
    known = writers.writers()
    if options.target_format is not None and options.target_format not in known:
        return f"no writer for the format {quoted(options.target_format)}, choose among {', '.join(known)}"
    return _unknown_kind(options)


def _unknown_kind(options: argparse.Namespace) -> str | None:
    unknown = [kind for kind in listed(options.kind) if kind not in KINDS]
    return f"--kind {quoted(unknown[0])}, choose among {', '.join(KINDS)}" if unknown else None


def _reviewed(options: argparse.Namespace) -> tuple[Reviewed, Path | None]:
    """Return the verdicts that are accepted, and the file that they are kept in, if it is one.

    Raises:
        FormatError: a file that is not there, or a database that cannot be read; a reviewer who gave none.
    """
    if options.review is not None and not Path(options.review).exists():
        raise FormatError.single(options.review, None, "there is no such file", "name the file that holds the verdicts")
    store = ReviewStore.of_environment(options.review)
    try:
        every = store.reviewed()
        name, kept = store.name, store.database.file
    finally:
        store.close()
    unknown = [who for who in options.reviewer if who not in every.reviewers]
    if unknown:
        known = ", ".join(map(quoted, every.reviewers)) or "nobody"
        raise FormatError(
            Problem(name, None, f"no verdict of {quoted(who)} stands", f"verdicts are of {known}") for who in unknown
        )
    return accepted(every, who=options.reviewer or None, kinds=listed(options.kind) or None), kept


def _loaded(options: argparse.Namespace) -> Loaded:
    """Read gold and the systems, which may be none."""
    return loaded_corpus(options, None if beside_gold(options.files) else {})


def _write(options: argparse.Namespace, layer: Layer, log: bytes, kept: Path | None) -> None:
    """Write a layer and its log, over none of the inputs and not over the verdicts themselves."""
    places: list[str | Path] = [*files_of(options.files), *([kept] if kept else [])]
    form = options.target_format or "jsonl"
    for note in write_copy(layer, log, options.out, format=form, inputs=places, lossy=options.lossy):
        say(f"{options.out}: {note}")


def _say_applied(found: Applied) -> None:
    """Say how many verdicts were applied, to how many places in how many documents, and which documents were not."""
    say(
        f"{counted(found.verdicts, 'verdict')} applied to {counted(found.places, 'place')} in "
        f"{counted(found.documents, 'document')}"
    )
    if found.spared:
        say(f"{counted(found.spared, 'document')} with the same text left alone; --every-document changes all of them")


def _say_counts(found: Applied) -> None:
    _say_applied(found)
    for name, count in found.counts().items():
        say(f"{name}: {count}" + (f" ({REASONS[name]})" if name in REASONS else ""))


def _long(both: WhatIf) -> Sheet:
    return Sheet("", tuple(both.table().columns), cells(both.table()))


def _sheets(both: WhatIf, pairs: Sequence[Hanging], hangs: bool) -> list[Sheet]:
    table = both.table()
    columns = [(ratio, f"{ratio}_after", f"{ratio}_difference") for ratio in NAMED]
    names = [column for ratio in NAMED.values() for column in (ratio, "with verdicts", "difference")]
    shown = table[["system", "criterion", *(column for three in columns for column in three)]]
    sheet = Sheet(
        "What if: scores as they are, and with verdicts applied to gold",
        ("system", "criterion", *names),
        cells(shown),
        (signature(both.applied),),
    )
    if not hangs:
        return [sheet]
    return [sheet, *(_hangs(row) for row in pairs)]


def _hangs(row: Hanging) -> Sheet:
    return Sheet(
        f"{row.criterion}: {row.words}",
        ("document", "span", "text", "verdict", "who"),
        tuple(
            (change.id, written(change.span), change.before, KINDS[change.given.verdict.kind], change.given.who)
            for change in row.changes
        ),
    )


def _json(both: WhatIf, loaded: Loaded, pairs: Sequence[Hanging]) -> bytes:
    found = both.applied
    content = {
        **head(found.gold),
        "corrected": {"sha256": found.layer.digest, "spans": len(found.layer)},
        "signature": signature(found),
        "verdicts": found.counts(),
        "applied": {"verdicts": found.verdicts, "places": found.places, "documents": found.documents},
        "systems": [side(layer) for layer in loaded.corpus.systems],
        "scores": objects(both.table()),
        "hangs": [
            {
                "criterion": row.criterion,
                "better": row.better,
                "worse": row.worse,
                "words": row.words,
                "verdicts": row.verdicts,
                "least": row.least,
                "records": [{"document": one.id, "span": written(one.span)} for one in row.changes],
            }
            for row in pairs
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
