"""evalIOB2.pl, the scorer of the JNLPBA 2004 shared task, in its two versions.

Tags are read as IOB2 and rewritten by the next tag: B and I that no I follows become S and E. An object or answer is a
B or S. Left: both sides begin one here, of one class. Right: both end here (E or S), and the tags of this very token
are of one class. Full: single tokens of one class, or the same tags from B to E. So a run of I that no B opens is no
answer, and can still be right at its end; the class of an answer that changes inside is its first token's on the left
and its last one's on the right.
2004-04-02 counts an answer and its scores only from the first object of gold on, and reads as many sentences as the
answers have. 2004-10-14 mended both, adds up the five classes of the task only, and drops a last sentence that no blank
line ends. Of the options of the former the program takes only -a, though it describes -r.
Source: evalIOB2.pl (Kim 2004), of 2004-04-02 and of 2004-10-14; Kim, Ohta, Tsuruoka, Tateisi and Collier 2004.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
    TagPair,
)
from nereval_core.conventions.jnlpba.objects import (
    EVALUATIONS,
    TAGS,
    UNENDED,
    UNLISTED,
    UNREAD,
    TokenEvents,
    evaluation_records,
    token_events,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, figure_rows
from nereval_core.conventions.records import OVERALL, scope_of_type, type_of_scope
from nereval_core.conventions.tag_sequences import tags_of_layers
from nereval_core.corpus.arrays import Array
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.readers import Source, conll
from nereval_core.readers.shared.token_tags import Tagged

APRIL, OCTOBER = "jnlpba-2004-04", "jnlpba-2004-10"
ALL = "ALL"
SECTIONS = (ALL, TAGS)
"""Sections of the scores besides the classes."""
CLASSES = ("protein", "DNA", "RNA", "cell_type", "cell_line")
"""The classes of the task, in the order in which the version of October prints them."""
BY_CLASS = "classes"
"""The table of objects, answers and correct answers (full, left, right) by class."""
NEAR = "whatever the class"
"""The table of answers that are correct but for their class, in the row OVERALL."""
RATIOS = RatioNames(
    precision="precision", recall="recall", f1="f-score", correct="correct", gold="OBJECTs", pred="ANSWERs"
)


class AnswerFiles(NamedTuple):
    """The tags of both sides, which may differ in their number of sentences.

    `ended` says of each side whether a blank line ends it, `headed` whether gold's first document has the id of an
    abstract.
    """

    gold: Tagged
    pred: Tagged
    ended: tuple[bool, bool] = (True, True)
    headed: bool = True


def read(files: ScorerInput, options: Options, *, version: str) -> AnswerFiles:
    """Read the tags of two files, or of two columns of one.

    Raises:
        FormatError: unreadable input.
    """
    columns = [files.gold_column, files.pred_column]
    for side, option in enumerate(("r", "a")):
        if (field := options[option]) is not None:
            columns[side] = field + 1 if field >= 0 else field
    # Neither version knows -DOCSTART-: it is a token like any other.
    gold = conll.read_tagged(files.gold, column=columns[0], last=True, docstarts=True)
    pred = conll.read_tagged(files.pred, column=columns[1], last=True, docstarts=True)
    ended = (True, True) if version == APRIL else (_ended(files.gold), _ended(files.pred))
    return AnswerFiles(gold, pred, ended, _begins_with_id(files.gold))


def from_layers(layers: LayerPair, options: Options, *, version: str) -> AnswerFiles:
    return AnswerFiles(*tags_of_layers(layers, version))


def match(files: AnswerFiles, options: Options, *, version: str) -> MatchedSides:
    """Match objects and answers sentence by sentence.

    Raises:
        FormatError: sentences that differ in length, and where the program stops.
    """
    gold, pred = files.gold, files.pred
    n_sentences = _aligned(gold, pred, version, files.ended)
    size = min(len(gold), len(pred))
    tags = [*pred.tags[:size], *[""] * (len(gold) - size)]
    pred = replace(pred, documents=gold.documents, words=gold.words, sentences=gold.sentences, tags=tags)
    why = _passed_over(files, n_sentences, version, options)
    events = token_events(gold, pred, why, april=version == APRIL)
    tables = _tables(events)
    if version == APRIL:
        _refuse_nothing(events, gold, pred)
    scopes, overall = _classes(tables[BY_CLASS], version)
    return MatchedSides.of_tags(
        TagPair(gold, pred),
        len(events.gold.first),
        len(events.pred.first),
        tables,
        partial(evaluation_records, gold, pred, events, scopes, overall),
    )


def _ended(source: Source) -> bool:
    """Tell whether a blank line ends the file, as the version of October needs it."""
    lines = source.files[-1].lines()
    return not lines or not lines[-1]


def _begins_with_id(source: Source) -> bool:
    """Tell whether the id of an abstract stands before the first token of a file."""
    first = next((line for line in source.files[0].lines() if line.strip()), "")
    return first.startswith("###MEDLINE:")


def _aligned(gold: Tagged, pred: Tagged, version: str, ended: tuple[bool, bool]) -> int:
    """Return how many sentences of gold the program reads.

    Raises:
        FormatError: where it stops.
    """
    ours, theirs = (np.diff(side.sentences) for side in (gold, pred))
    both = min(len(ours), len(theirs))
    program = "evalIOB2.pl of 2004-04-02" if version == APRIL else "evalIOB2.pl of 2004-10-14"
    parting = np.flatnonzero(ours[:both] != theirs[:both])
    if len(parting):
        number = int(parting[0])
        file, line = gold.place(int(gold.sentences[number]))
        finding = (
            f"sentence {number + 1} has {counted(theirs[number], 'token')} where gold's ({file}:{line}) has "
            f"{ours[number]}: {program} stops here"
        )
        raise FormatError.single(*pred.place(int(pred.sentences[number])), finding, "give one tag for each gold token")
    if version == APRIL and len(theirs) > both:
        finding = f"{counted(len(theirs), 'sentence')} where gold has {len(ours)}: {program} stops here"
        raise FormatError.single(*pred.place(int(pred.sentences[both])), finding, "leave out what is not in gold")
    if version == OCTOBER and (len(theirs) < len(ours) or (ended[0] and not ended[1] and len(theirs) == len(ours))):
        counts = f"{counted(len(theirs), 'sentence')} where gold has {len(ours)}"
        finding = f"{counts}: {program} stops with 'insufficient answers.'"
        if len(theirs) == len(ours):
            finding = f"no blank line ends the last sentence: {program} stops with 'insufficient answers.'"
        raise FormatError.single(pred.source, None, finding, "answer every line of gold, the blank ones too")
    return both


def _passed_over(files: AnswerFiles, n_sentences: int, version: str, options: Options) -> Array:
    """Return for each token why it is not read (index into WHY), -1 where it is; `n_sentences` of gold are."""
    gold = files.gold
    why = np.full(len(gold), -1, np.int8)
    why[gold.sentences[n_sentences] :] = UNREAD
    if not files.ended[0]:
        why[gold.sentences[-2] :] = UNENDED
    if version == OCTOBER and options["l"] is not None:
        *listed, last = Path(options["l"]).read_text(encoding="utf-8").split("\n")
        listed += [last] * bool(last)
        ids = [name if gold.documents.named else "" for name in gold.written_ids or gold.documents.ids]
        # Sentences before the first id belong to the abstract "" for the program, which a blank line lists.
        ids[:1] = ids[:1] if files.headed else [""]
        is_listed = np.array([name in listed for name in ids], bool)
        why[~is_listed[gold.doc]] = UNLISTED
    return why


def _refuse_nothing(events: TokenEvents, gold: Tagged, pred: Tagged) -> None:
    """Raise a FormatError where the version of April stops for want of objects or answers."""
    for mask, tags, unit, message in (
        (events.objects, gold, "object in what is read", "No object to identify."),
        (events.answers, pred, "answer from the first object of gold on", "No object identified."),
    ):
        if not mask.any():
            finding = (
                f"no {unit}: evalIOB2.pl of 2004-04-02 prints the tagging performance and stops, {quoted(message)}"
            )
            raise FormatError.single(tags.source, None, finding, "give at least one, as B- in IOB2 tags")


def _tables(events: TokenEvents) -> dict[str, dict[str, tuple[int, ...]]]:
    """Count tokens, and by class objects and answers; classes stand in the order of their first objects."""
    size = len(events.classes)
    kinds = [events.gold.kind[events.objects], events.pred.kind[events.answers]]
    kinds += [events.pred.kind[events.correct[name]] for name in EVALUATIONS]
    counts = np.stack([np.bincount(kind, minlength=size) for kind in kinds], axis=1).tolist()
    names = dict.fromkeys((*dict.fromkeys(kinds[0].tolist()), *range(size)))
    is_read = events.read
    same_letter, same_tag = (int(np.count_nonzero(mask & is_read)) for mask in events.tags)
    return {
        BY_CLASS: {events.classes[code]: tuple(counts[code]) for code in names},
        TAGS: {OVERALL: (int(np.count_nonzero(is_read)), same_tag, same_letter)},
        NEAR: {OVERALL: tuple(int(np.count_nonzero(events.near[name])) for name in EVALUATIONS)},
    }


def _classes(by_class: Mapping[str, tuple[int, ...]], version: str) -> tuple[Collection[str], Collection[str]]:
    """Return the classes that have figures of their own, and those that the overall figures are made of."""
    if version == OCTOBER:
        return CLASSES, CLASSES
    present = [name for name, (n_objects, *_) in by_class.items() if n_objects]
    return present if len(present) > 1 else (), by_class.keys()


def figures(counts: CountTables, options: Options, *, version: str) -> Figures:
    by_class = counts.rows(BY_CLASS)
    scopes, overall = _classes(by_class, version)
    nothing = (0,) * (2 + len(EVALUATIONS))
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    if version == APRIL:
        n_read, same_tag, same_letter = counts.rows(TAGS)[OVERALL]
        tokens = {"tags": n_read, "correct tags": same_tag, "correct IOBs": same_letter}
        ratios = {"precision with class info": same_tag / n_read, "precision w/o class info": same_letter / n_read}
        scores[TAGS] = tokens | ratios
        rows += figure_rows(TAGS, {OVERALL: scores[TAGS]}, tokens)
    sections = {(ALL, OVERALL): [by_class[name] for name in overall if name in by_class]}
    sections |= {(scope_of_type(name, SECTIONS), scope_of_type(name)): [by_class.get(name, nothing)] for name in scopes}
    for (section, scope), parts in sections.items():
        n_objects, n_answers, *correct = map(sum, zip(nothing, *parts, strict=True))
        totals = {"OBJECTs": n_objects, "ANSWERs": n_answers}
        scores[section] = dict(totals)
        for number, evaluation in enumerate(EVALUATIONS):
            row = _ratios(correct[number], totals)
            rows += figure_rows(evaluation, {scope: {**totals, **row}}, (*totals, "correct"))
            scores[section][evaluation] = dict(row)
            if section == ALL and version == APRIL:
                # Computed and not printed.
                near = counts.rows(NEAR)[OVERALL][number]
                scores[section][evaluation]["w/o class info"] = _ratios(near, totals)
    other = sorted(name for name in by_class if name and name not in CLASSES)
    knows = f"counted nowhere, as this version knows {len(CLASSES)} classes alone: {', '.join(other)}"
    return Figures(scores, rows, (knows,) if other and version == OCTOBER else ())


def _ratios(correct: int, totals: Mapping[str, int]) -> dict[str, float]:
    ratios = RATIOS.of({"correct": correct, **totals})
    return {"correct": correct} | {name: ratios[name] for name in ("recall", "precision", "f-score")}


def text_of_april(outcome: Outcome) -> str:
    """Return the printout of 2004-04-02; the program's own order of sections is that of a Perl hash, by chance."""
    scores = outcome.scores
    tags = scores[TAGS]
    lines = [
        "",
        "[Tagging Performance]",
        f"# of tags: {tags['tags']},\t correct tags: {tags['correct tags']},\t correct IOBs: {tags['correct IOBs']}",
        f"precision with class info: {tags['precision with class info']:6.4f},"
        f"\t w/o class info: {tags['precision w/o class info']:6.4f}",
    ]
    for scope, section in scores.items():
        if scope == TAGS:
            continue
        title = "Object" if scope == ALL else f"<{type_of_scope(scope, SECTIONS)}>"
        lines += [
            "",
            f"[{title} Identification Performance]",
            f"# of OBJECTs: {section['OBJECTs']},\t ANSWERs: {section['ANSWERs']}.",
            "",
            "# (recall / precision / f-score) of ...",
        ]
        for name, evaluation in (
            ("     FULLY CORRECT answer", "full"),
            ("    correct LEFT boundary", "left"),
            ("   correct RIGHT boundary", "right"),
        ):
            row = section[evaluation]
            ratios = " / ".join(f"{row[figure]:6.4f}" for figure in ("recall", "precision", "f-score"))
            lines.append(f"{name} with class info: {row['correct']} ({ratios}),")
        lines.append("")
    return "\n".join(lines) + "\n"


def text_of_october(outcome: Outcome) -> str:
    """Return the printout of 2004-10-14; cells that do not fit their columns are cut, as there."""
    border = "+" + "-" * 18 + ("+" + "-" * 33) * 3 + "+"
    lines = [
        " " * 30 + "Biomedical Entity Recognition Performance (Genaral)" + " " * 41,
        " " * 89 + "number(recall/precision/f-score) ",
        border,
        "|" + " " * 18 + "|          complete match         |       right boundary match      |"
        "       left boundary match       |",
        border,
    ]
    for scope in (*CLASSES, ALL):
        section = outcome.scores[scope]
        objects = section["OBJECTs"]
        cells = [_centred("[-ALL-]" if scope == ALL else scope, 9)]
        for evaluation in ("full", "right", "left"):
            row = section[evaluation]
            ratios = " / ".join(f"{100 * row[figure]:5.2f}%" for figure in ("recall", "precision", "f-score"))
            cells.append(_centred(f"{row['correct']:4d} ({ratios})", 31))
        cells[0] += f" ({objects:4d})" if objects < 10000 else " (####)"
        lines += ["| " + " | ".join(cells) + " |", border]
    return "\n".join([*lines, "", "", ""]) + "\n"


def _centred(text: str, width: int) -> str:
    """Return text in the middle of a column, cut where it is too long; the odd blank goes to the right."""
    before = max(0, width - len(text)) // 2
    return (" " * before + text[:width]).ljust(width)


FIELDS = (
    ScorerOption("a", "the field of the tags in the answer file, counted from 0; -1 is the last", "integer"),
    ScorerOption("r", "the field of the tags in the reference file, counted from 0; -1 is the last", "integer"),
)
NEEDS = "IOB2 tags on both sides, in the same sentences"
TAG_FORMULAS = {
    "precision with class info": "correct tags / tags",
    "precision w/o class info": "correct IOBs / tags",
}
SENTENCES = {
    APRIL: "JNLPBA 2004: full, left and right matches; counts answers only from the first object of gold on.",
    OCTOBER: "JNLPBA 2004, mended: the five classes of the task; drops a last sentence that no blank line ends.",
}
LISTED = ScorerOption(
    "l", "file with the ids of the abstracts to be scored, one a line; a blank line lists sentences without", "file"
)

CONVENTIONS = tuple(
    Convention(
        name=version,
        family="tag sequences",
        sentence=SENTENCES[version],
        needs="IOB2 tags on both sides, in the same sentences",
        source=f"evalIOB2.pl of {date} (Kim et al. 2004)",
        steps=ScorerSteps(
            partial(read, version=version), partial(from_layers, version=version), partial(match, version=version)
        ),
        figures=partial(figures, version=version),
        not_by_shards=not_by_shards,
        formats=("conll",),
        options=options,
        twins={"full": "strict", "left": "left", "right": "right"},
        forms={"text": text},
        ratios=RATIOS,
        other_formulas=TAG_FORMULAS,
    )
    for version, date, not_by_shards, options, text in (
        (
            APRIL,
            "2004-04-02",
            "it counts answers only from the first object of the whole corpus on",
            FIELDS,
            text_of_april,
        ),
        (OCTOBER, "2004-10-14", "", (*FIELDS, LISTED), text_of_october),
    )
)
