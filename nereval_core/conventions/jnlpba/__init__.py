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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions import Convention, Given, Option
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
from nereval_core.conventions.outcome import OVERALL, Content, FigureRow, Outcome, figures, scope_of_type, type_of_scope
from nereval_core.conventions.shares import precision_recall_f1
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.readers import Source, conll
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

APRIL, OCTOBER = "jnlpba-2004-04", "jnlpba-2004-10"
ALL = "ALL"
SECTIONS = (ALL, TAGS)
"""Sections of the scores besides the classes."""
CLASSES = ("protein", "DNA", "RNA", "cell_type", "cell_line")
"""The classes of the task, in the order in which the version of October prints them."""


def score(given: Given, options: Mapping[str, Any], *, version: str) -> Outcome:
    """Score the tags of two files, or of two columns of one.

    Raises:
        FormatError: unreadable input, sentences that differ in length, and where the program stops.
    """
    columns = [given.gold_column, given.pred_column]
    for side, option in enumerate(("r", "a")):
        if (field := options[option]) is not None:
            columns[side] = field + 1 if field >= 0 else field
    # Neither version knows -DOCSTART-: it is a token like any other.
    gold = conll.read_tagged(given.gold, column=columns[0], last=True, docstarts=True)
    pred = conll.read_tagged(given.pred, column=columns[1], last=True, docstarts=True)
    ended = [True, True] if version == APRIL else [_ended(source) for source in (given.gold, given.pred)]
    return score_tags(
        gold, pred, options, version=version, ended=(ended[0], ended[1]), headed=_begins_with_id(given.gold)
    )


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, version: str) -> Outcome:
    """Score layers by the IOB2 tags that say them."""
    return score_tags(tags_of_layer(gold, version), tags_of_layer(pred, version), options, version=version)


def score_tags(
    gold: Tagged,
    pred: Tagged,
    options: Mapping[str, Any],
    *,
    version: str,
    ended: tuple[bool, bool] = (True, True),
    headed: bool = True,
) -> Outcome:
    """Score tags sentence by sentence.

    `ended` says of each side whether a blank line ends it, `headed` whether gold's first document has the id of an
    abstract.

    Counters by class and overall: `OBJECTs` (gold), `ANSWERs` and `correct`.
    """
    read = _aligned(gold, pred, version, ended)
    size = min(len(gold), len(pred))
    tags = [*pred.tags[:size], *[""] * (len(gold) - size)]
    pred = replace(pred, documents=gold.documents, words=gold.words, sentences=gold.sentences, tags=tags)
    scored = token_events(gold, pred, _passed_over(gold, read, version, ended, headed, options), april=version == APRIL)
    found = scored.classes
    notes: tuple[str, ...] = ()
    if version == APRIL:
        _refuse_nothing(scored, gold, pred)
        present = np.unique(scored.gold.kind[scored.objects], return_index=True)
        order = present[0][np.argsort(present[1])].tolist()
        scopes = [found[code] for code in order] if len(order) > 1 else []
        whole = tuple(range(len(found)))
    else:
        scopes = list(CLASSES)
        whole = tuple(code for code, name in enumerate(found) if name in CLASSES)
        other = sorted(name for name in found if name and name not in CLASSES)
        notes = (
            (f"counted nowhere, as this version knows {len(CLASSES)} classes alone: {', '.join(other)}",)
            if other
            else ()
        )
    scores, rows = _figures(scored, scopes, whole, version)
    return Outcome(
        version,
        options,
        gold.documents,
        Content.of_tags(gold, len(scored.gold.first)),
        Content.of_tags(pred, len(scored.pred.first)),
        scores,
        figures(rows),
        partial(evaluation_records, gold, pred, scored, tuple(scopes), whole),
        notes,
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
        found = (
            f"sentence {number + 1} has {counted(theirs[number], 'token')} where gold's ({file}:{line}) has "
            f"{ours[number]}: {program} stops here"
        )
        raise FormatError.single(*pred.place(int(pred.sentences[number])), found, "give one tag for each gold token")
    if version == APRIL and len(theirs) > both:
        found = f"{counted(len(theirs), 'sentence')} where gold has {len(ours)}: {program} stops here"
        raise FormatError.single(*pred.place(int(pred.sentences[both])), found, "leave out what is not in gold")
    if version == OCTOBER and (len(theirs) < len(ours) or (ended[0] and not ended[1] and len(theirs) == len(ours))):
        counts = f"{counted(len(theirs), 'sentence')} where gold has {len(ours)}"
        found = f"{counts}: {program} stops with 'insufficient answers.'"
        if len(theirs) == len(ours):
            found = f"no blank line ends the last sentence: {program} stops with 'insufficient answers.'"
        raise FormatError.single(pred.source, None, found, "answer every line of gold, the blank ones too")
    return both


def _passed_over(
    gold: Tagged, read: int, version: str, ended: tuple[bool, bool], headed: bool, options: Mapping[str, Any]
) -> NDArray[Any]:
    """Return for each token why it is not read (index into WHY), -1 where it is."""
    why = np.full(len(gold), -1, np.int8)
    why[gold.sentences[read] :] = UNREAD
    if not ended[0]:
        why[gold.sentences[-2] :] = UNENDED
    if version == OCTOBER and options["l"] is not None:
        *listed, last = Path(options["l"]).read_text(encoding="utf-8").split("\n")
        listed += [last] * bool(last)
        ids = [name if gold.documents.named else "" for name in gold.written_ids or gold.documents.ids]
        # Sentences before the first id belong to the abstract "" for the program, which a blank line lists.
        ids[:1] = ids[:1] if headed else [""]
        kept = np.array([name in listed for name in ids], bool)
        why[~kept[gold.doc]] = UNLISTED
    return why


def _refuse_nothing(scored: TokenEvents, gold: Tagged, pred: Tagged) -> None:
    """Raise a FormatError where the version of April stops for want of objects or answers."""
    for mask, tags, what, said in (
        (scored.objects, gold, "object in what is read", "No object to identify."),
        (scored.answers, pred, "answer from the first object of gold on", "No object identified."),
    ):
        if not mask.any():
            found = f"no {what}: evalIOB2.pl of 2004-04-02 prints the tagging performance and stops, {quoted(said)}"
            raise FormatError.single(tags.source, None, found, "give at least one, as B- in IOB2 tags")


def _figures(
    scored: TokenEvents, scopes: Sequence[str], whole: Sequence[int], version: str
) -> tuple[dict[str, Any], list[FigureRow]]:
    """Return the scores as they nest and as rows of the table."""
    count = len(scored.classes)
    by_class = {
        "OBJECTs": np.bincount(scored.gold.kind[scored.objects], minlength=count),
        "ANSWERs": np.bincount(scored.pred.kind[scored.answers], minlength=count),
    }
    correct = {name: np.bincount(scored.pred.kind[mask], minlength=count) for name, mask in scored.correct.items()}
    codes = {name: code for code, name in enumerate(scored.classes)}
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    if version == APRIL:
        read = int(np.count_nonzero(scored.read))
        alike, right = (int(np.count_nonzero(mask & scored.read)) for mask in scored.tags)
        scores[TAGS] = {
            "tags": read,
            "correct tags": right,
            "correct IOBs": alike,
            "precision with class info": right / read,
            "precision w/o class info": alike / read,
        }
        counted = ("tags", "correct tags", "correct IOBs")
        rows += [(TAGS, OVERALL, name, value, name in counted) for name, value in scores[TAGS].items()]
    for section, scope, chosen in (
        (ALL, OVERALL, list(whole)),
        *(
            (scope_of_type(name, SECTIONS), scope_of_type(name), [codes[name]] if name in codes else [])
            for name in scopes
        ),
    ):
        totals = {name: int(values[chosen].sum()) for name, values in by_class.items()}
        scores[section] = dict(totals)
        for evaluation in EVALUATIONS:
            row = _ratios(int(correct[evaluation][chosen].sum()), totals)
            scores[section][evaluation] = row
            if section == ALL and version == APRIL:
                # Computed and not printed.
                near = int(np.count_nonzero(scored.near[evaluation]))
                scores[section][evaluation] = row | {"w/o class info": _ratios(near, totals)}
            place = (evaluation, scope)
            rows += [(*place, name, value, True) for name, value in totals.items()]
            rows += [(*place, name, value, name == "correct") for name, value in row.items()]
    return scores, rows


def _ratios(correct: int, totals: Mapping[str, int]) -> dict[str, float]:
    precision, recall, fscore = precision_recall_f1(correct, totals["ANSWERs"], totals["OBJECTs"])
    return {"correct": correct, "recall": recall, "precision": precision, "f-score": fscore}


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
    left = max(0, width - len(text)) // 2
    return (" " * left + text[:width]).ljust(width)


FIELDS = (
    Option("a", "the field of the tags in the answer file, counted from 0; -1 is the last", "integer"),
    Option("r", "the field of the tags in the reference file, counted from 0; -1 is the last", "integer"),
)
NEEDS = "IOB2 tags on both sides, in the same sentences"
NAMES = {"P": "precision", "R": "recall", "F1": "f-score", "COR": "correct", "POS": "OBJECTs", "ACT": "ANSWERs"}
FORMULAS = {
    "precision": "correct / ANSWERs",
    "recall": "correct / OBJECTs",
    "f-score": "2 × precision × recall / (precision + recall)",
    "precision with class info": "correct tags / tags",
    "precision w/o class info": "correct IOBs / tags",
}
TWINS = {"full": "strict", "left": "left", "right": "right"}

CONVENTIONS = (
    Convention(
        name=APRIL,
        family="tag sequences",
        sentence="JNLPBA 2004: full, left and right matches; counts answers only from the first object of gold on.",
        needs=NEEDS,
        source="evalIOB2.pl of 2004-04-02 (Kim et al. 2004)",
        score=partial(score, version=APRIL),
        of_layers=partial(of_layers, version=APRIL),
        by_shares="it counts answers only from the first object of the whole corpus on",
        formats=("conll",),
        options=FIELDS,
        twins=TWINS,
        names=NAMES,
        formulas=FORMULAS,
        forms={"text": text_of_april},
    ),
    Convention(
        name=OCTOBER,
        family="tag sequences",
        sentence="JNLPBA 2004, mended: the five classes of the task; drops a last sentence that no blank line ends.",
        needs=NEEDS,
        source="evalIOB2.pl of 2004-10-14 (Kim et al. 2004)",
        score=partial(score, version=OCTOBER),
        of_layers=partial(of_layers, version=OCTOBER),
        formats=("conll",),
        options=(
            *FIELDS,
            Option(
                "l",
                "file with the ids of the abstracts to be scored, one a line; a blank line lists sentences without",
                "file",
            ),
        ),
        twins=TWINS,
        names=NAMES,
        formulas=FORMULAS,
        forms={"text": text_of_october},
    ),
)
