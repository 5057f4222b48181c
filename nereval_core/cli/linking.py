"""The verb `link`: entity linking of systems against gold, as tables, JSON and records."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.linking import LinkCounts, LinkDecision, LinkScores, judge_links, link_signature
from nereval_core.analysis.linking.mentions import Boundaries, align_links
from nereval_core.analysis.linking.tables import link_confusion, link_records
from nereval_core.cli.options import loaded_corpus, misplaced
from nereval_core.cli.output import listed, put_out, say, say_unused
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, quoted
from nereval_core.readers.concepts import read_mapping
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, frame_as, record_form
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Settings, apply_rules
from nereval_core.scoring.criteria import TypeRules

FORMS = (*TABLES, "records")
BY = ("document", "confusion")
BOUNDARIES: tuple[Boundaries, ...] = ("strict", "overlapping")
DECISIONS = tuple(decision.name.lower() for decision in LinkDecision)
COUNTED = ("right", "wrong", "NIL for link", "link for NIL", "missing", "spurious", "gold", "predicted")
GIVEN = ("right", "wrong", "NIL for link", "link for NIL", "missing", "judged", "accuracy", "not judged")


class Scored(NamedTuple):
    """A system's scores: the layer as read, and one for each boundary rule and n."""

    layer: Layer
    marks: tuple[str, ...]
    scores: tuple[LinkScores, ...]


def link(options: argparse.Namespace) -> str | None:
    """Read, score and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    by, ranks, boundaries = (listed(values) for values in (options.by, [options.n], [options.boundaries]))
    wrong = misused(options, targets, by, BY) or _bad_choice(options, ranks, boundaries)
    if wrong:
        return wrong
    relaxed = {} if options.relaxed is None else read_mapping(options.relaxed)
    loaded = loaded_corpus(options)
    leave_out = tuple(sorted(set(listed(options.leave_out))))
    say_unused(Settings(leave_out=leave_out), loaded)
    gold = loaded.corpus.gold
    if not gold.links:
        remedy = "give gold with links: a NEL column (hipe), N lines or codes as notes (brat), links (jsonl)"
        raise FormatError.single(loaded.gold.source, None, "no span has a link", remedy)
    rules = TypeRules({}, leave_out)
    systems = []
    for layer in loaded.corpus.systems:
        if not layer.links:
            say(f"{layer.name}: no span has a link, so that every gold mention is missing")
        marks = (f"left out: {','.join(leave_out)}",) if leave_out else ()
        scores = []
        for rule in BOUNDARIES if options.mentions == "end-to-end" else BOUNDARIES[:1]:
            if rule not in boundaries:
                continue
            alignment = align_links(
                apply_rules(gold, rules), apply_rules(layer, rules), boundaries=rule, mentions=options.mentions
            )
            truth = options.gold_links
            scores += [judge_links(alignment, n=int(n[:9]), truth=truth, relaxed=relaxed) for n in dict.fromkeys(ranks)]
        systems.append(Scored(layer, (*marks, *loaded.marks[layer.name]), tuple(scores)))
    contents = {form: _rendered(form, gold, systems, by, place) for form, place in targets.items()}
    put_out(targets, contents)
    if not set(targets) - {"records"}:
        print(as_screen(_sheets(gold, systems, by)), end="")
    return None


def misused(
    options: argparse.Namespace, targets: Mapping[str, str], by: Sequence[str], known: Sequence[str]
) -> str | None:
    """Return what is wrong with the places of output and with --by."""
    unknown = [value for value in by if value not in known]
    if unknown:
        return f"--by {quoted(unknown[0])}, choose among {', '.join(known)}"
    wrong = misplaced(options, targets)
    if wrong:
        return wrong
    if options.relaxed is not None:
        # The mapping is an input too.
        wrong = misplaced(argparse.Namespace(**{**vars(options), "files": [*options.files, options.relaxed]}), targets)
        if wrong:
            return wrong
    if "records" in targets and record_form(targets["records"]) is None:
        return f"--records {quoted(targets['records'])}, end the name in one of {', '.join(RECORD_FORMS)}"
    return None


def _bad_choice(options: argparse.Namespace, ranks: Sequence[str], boundaries: Sequence[str]) -> str | None:
    if not ranks or not all(n.isascii() and n.isdecimal() and int(n[:9]) > 0 for n in ranks):
        return f"--n {quoted(options.n)}, write numbers from 1 with commas between: 1,3,5"
    unknown = [value for value in boundaries if value not in BOUNDARIES]
    if unknown or not boundaries:
        return f"--boundaries {quoted(options.boundaries)}, choose among {', '.join(BOUNDARIES)}"
    if options.mentions == "gold" and "strict" not in boundaries:
        return "--mentions gold judges where boundaries are equal: leave --boundaries out"
    return None


def _rendered(form: str, gold: Layer, systems: Sequence[Scored], by: Sequence[str], place: str) -> bytes:
    if form == "records":
        return frame_as(record_form(place) or RECORD_FORMS[0], _records(systems))
    if form == "json":
        found = _results(gold, systems, by)
        return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
    return in_form(form, _sheets(gold, systems, by), lambda: _long(gold, systems, by))


def _signature(one: Scored, scores: LinkScores, gold: Layer) -> str:
    return link_signature(scores, gold.digest, one.layer.digest, one.marks)


def _results(gold: Layer, systems: Sequence[Scored], by: Sequence[str]) -> dict[str, Any]:
    def side(layer: Layer) -> dict[str, Any]:
        return {"sha256": layer.digest, "spans": len(layer), "mentions": len(layer.links)}

    return {
        "nereval": __version__,
        "gold": {**side(gold), "documents": len(gold.documents)},
        "systems": [{"name": one.layer.name, **side(one.layer), "links": _by_rule(one, gold, by)} for one in systems],
    }


def _by_rule(one: Scored, gold: Layer, by: Sequence[str]) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for scores in one.scores:
        given = scores.alignment.mentions == "gold"
        found = {"signature": _signature(one, scores, gold)} | _counts(scores.counts, given)
        if given:
            found["not_judged"] = dict(zip(("gold", "pred"), scores.alignment.unjudged, strict=True))
        if "document" in by:
            found["documents"] = {name: _counts(counts, given) for name, counts in scores.by_document.items()}
        if "confusion" in by:
            found["confusion"] = link_confusion(link_records(scores)).to_dict("records")
        rules.setdefault("given" if given else scores.alignment.boundaries, {})[str(scores.n)] = found
    return rules


def _counts(counts: LinkCounts, given: bool) -> dict[str, Any]:
    decisions = dict(zip(DECISIONS, counts.decisions, strict=True))
    if given:
        del decisions["spurious"]
        return decisions | {"judged": counts.gold, "accuracy": counts.recall}
    sums = {"gold": counts.gold, "predicted": counts.predicted}
    return decisions | sums | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _sheets(gold: Layer, systems: Sequence[Scored], by: Sequence[str]) -> list[Sheet]:
    sheets = []
    for one in systems:
        given = one.scores[0].alignment.mentions == "gold"
        rows: tuple[tuple[Cell, ...], ...] = tuple((_name(scores), *_cells(scores)) for scores in one.scores)
        columns = ("given mentions", *GIVEN) if given else ("linking", *COUNTED, "P", "R", "F1")
        notes = tuple(_signature(one, scores, gold) for scores in one.scores)
        sheets.append(Sheet(one.layer.name, columns, rows, notes))
        for scores in one.scores:
            sheets += _parts(one, scores, by, given)
    return sheets


def _parts(one: Scored, scores: LinkScores, by: Sequence[str], given: bool) -> Iterator[Sheet]:
    title = f"{one.layer.name}: {_name(scores)}"
    if "document" in by:
        columns = ("document", *(GIVEN[:-1] if given else (*COUNTED, "P", "R", "F1")))
        rows = tuple((name, *_row(counts, given)) for name, counts in scores.by_document.items())
        yield Sheet(f"{title} by document", columns, rows)
    if "confusion" in by:
        frame = link_confusion(link_records(scores))
        met = tuple((gold or "–", pred or "–", count) for gold, pred, count in frame.itertuples(index=False))
        yield Sheet(f"{title}, which id met which", ("gold", "predicted", "records"), met)


def _name(scores: LinkScores) -> str:
    rule = "equal boundaries" if scores.alignment.mentions == "gold" else scores.alignment.boundaries
    return f"{rule}, n = {scores.n}"


def _cells(scores: LinkScores) -> tuple[Cell, ...]:
    if scores.alignment.mentions == "gold":
        return (*_row(scores.counts, True), sum(scores.alignment.unjudged))
    return _row(scores.counts, False)


def _row(counts: LinkCounts, given: bool) -> tuple[Cell, ...]:
    if given:
        return (*counts.decisions[: LinkDecision.SPURIOUS], counts.gold, counts.recall)
    return (*counts.decisions, counts.gold, counts.predicted, counts.precision, counts.recall, counts.f1)


def _long(gold: Layer, systems: Sequence[Scored], by: Sequence[str]) -> Sheet:
    """Return all numbers as one table for programs and spreadsheets; `document` is empty for the whole."""
    columns = ("system", "mentions", "boundaries", "n", "document", *DECISIONS)
    rows: list[tuple[Cell, ...]] = []
    for one in systems:
        for scores in one.scores:
            head = (one.layer.name, scores.alignment.mentions, scores.alignment.boundaries, scores.n)
            signed = _signature(one, scores, gold)
            rows.append((*head, None, *_row(scores.counts, False), signed))
            if "document" in by:
                rows += [(*head, name, *_row(counts, False), signed) for name, counts in scores.by_document.items()]
    return Sheet("links", (*columns, "gold", "predicted", "precision", "recall", "f1", "signature"), tuple(rows))


def _records(systems: Sequence[Scored]) -> pd.DataFrame:
    """Return the records of all systems: `system`, `boundaries`, `n` and the columns of LINK_RECORD_COLUMNS."""
    frames = []
    for one in systems:
        for scores in one.scores:
            frame = link_records(scores)
            names = {key: frame[key].astype("str") for key in frame.columns if frame[key].dtype == "category"}
            frame = frame.assign(**names)
            frame.insert(0, "system", pd.Series(one.layer.name, index=frame.index, dtype="str"))
            frame.insert(1, "boundaries", pd.Series(scores.alignment.boundaries, index=frame.index, dtype="str"))
            frame.insert(2, "n", scores.n)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)
