"""SeqScore 0.9.0, which refuses malformed tags unless it is told how to repair them.

A mention is right where the other side has one of the same tokens and type. Both sides must have gold's tokens and
sentences. A tag that the encoding does not have stops the program, and so does a transition that it does not allow,
without a repair method. On BIO, `conlleval` makes a B of an I that follows no mention of its type, and `discard` an O,
also of each I after it. On IOB, `conlleval` makes an I of a B that follows no mention of its type. Other encodings have
no repair. Accuracy is of tags as repaired. A zero denominator gives 0. Documents are parted by -DOCSTART-, which is no
token; lines of comments are passed over, as with --allow-comment-lines.
Source: SeqScore 0.9.0 (Palen-Michel, Holley and Lignos 2021), https://github.com/bltlab/seqscore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd

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
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, Tables, figure_rows
from nereval_core.conventions.records import COR, MIS, OVERALL, SPU, Evaluation, SharedTypes, type_of_scope
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    chunk_matches,
    in_scheme,
    last_true,
    number_tags,
    previous_values,
    refuse_tags,
    tags_of_layers,
    token_records,
)
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import conll
from nereval_core.readers.shared.tag_schemes import LETTERS, SCHEMES, Scheme
from nereval_core.readers.shared.token_tags import Tagged, match_tags

SCHEME_OF = {
    "BIO": "IOB2",
    "BIOES": "IOBES",
    "BILOU": "BILOU",
    "BMES": "BMES",
    "BMEOW": "BMEWO",
    "IO": "IO",
    "IOB": "IOB1",
}
"""Our name of each encoding."""
REPAIRS = {("BIO", "conlleval"): "B", ("BIO", "discard"): "O", ("IOB", "conlleval"): "I"}
"""The letter that a repair method gives to a tag that the one before does not allow."""
METHODS = ("conlleval", "discard", "none")
MENTIONS, ACCURACY = "mentions", "accuracy"
BY_TYPE, TOKENS = "types", "tokens"
ALL = "ALL"
EVALUATION = Evaluation(
    reasons=(
        "the same tokens and type on the other side",
        "no mention of the same tokens and type on the other side",
    ),
    counters={"Reference": (COR, MIS), "Predicted": (COR, SPU), "Correct": (COR,)},
    by_type=True,
)
RATIOS = RatioNames(
    precision="Precision", recall="Recall", f1="F1", correct="Correct", gold="Reference", pred="Predicted"
)
RATIO_NAMES = (RATIOS.precision, RATIOS.recall, RATIOS.f1)
COLUMNS = (*RATIO_NAMES, *EVALUATION.counters)
NO_TYPE = -1


def read(files: ScorerInput, options: Options) -> TagPair:
    """Read the last columns.

    Raises:
        FormatError: tokens or sentences of the prediction that are not gold's.
    """
    gold, pred = (
        conll.read_tagged(source, column=column, last=True)
        for source, column in ((files.gold, files.gold_column), (files.pred, files.pred_column))
    )
    matched = match_tags(gold, pred)
    differing = [token for token, words in enumerate(zip(gold.words, pred.words, strict=True)) if words[0] != words[1]]
    finding = ""
    if differing:
        token = differing[0]
        finding = f"{quoted(pred.words[token])} is {quoted(gold.words[token])} in gold"
    elif not np.array_equal(gold.sentences, pred.sentences):
        only = np.setxor1d(gold.sentences, pred.sentences)
        token = int(only[0])
        finding = f"only one side has a sentence that begins at {quoted(pred.words[token])}"
    if finding:
        raise FormatError.single(*pred.place(token), f"{finding}, at which SeqScore stops", "give gold's tokens")
    return TagPair(gold, matched)


def from_layers(layers: LayerPair, options: Options) -> TagPair:
    """Return the tags that say layers, in the encoding asked for.

    Raises:
        FormatError: spans that its tags cannot say.
    """
    tags = tags_of_layers(layers, "seqscore")
    scheme = SCHEMES[SCHEME_OF[options["labels"]]]
    if not scheme.touches:
        _refuse_touching(tags, scheme)
    return TagPair(*(in_scheme(side, scheme.name) for side in tags))


def match(tags: TagPair, options: Options) -> MatchedSides:
    """Match mentions over the same tokens.

    Raises:
        FormatError: where SeqScore stops.
    """
    labels, method = options["labels"], options["repair-method"]
    if method != "none" and (labels, method) not in REPAIRS:
        finding = f"SeqScore cannot repair {labels} by {method}: it stops with a ValueError"
        raise FormatError.single("--repair-method", None, finding, "leave it out, or choose BIO or IOB")
    scheme = SCHEMES[SCHEME_OF[labels]]
    numbers, names = number_tags(tags.gold.tags, tags.pred.tags)
    refuse_tags(tags, numbers, names, {name: why for name in names if (why := _fault(name, labels, scheme.letters))})
    types = tuple(sorted({name.partition("-")[2] for name in names} - {""}))
    sequences = [_Sequence.of(side, names, types, tags.gold.sentences, scheme) for side in numbers]
    if method == "none":
        _refuse_transitions(tags, sequences)
    else:
        sequences = [sequence.repaired(REPAIRS[labels, method]) for sequence in sequences]
    gold, pred = (sequence.mentions(scheme) for sequence in sequences)
    rows = chunk_matches(gold, pred, len(tags.gold))
    same_tag = (sequences[0].letter == sequences[1].letter) & (sequences[0].kind == sequences[1].kind)

    def records(evaluation: str) -> pd.DataFrame:
        if evaluation == ACCURACY:
            sides = TagPair(*(replace(side, tags=own.tags(types)) for side, own in zip(tags, sequences, strict=True)))
            return token_records(ACCURACY, *sides, {"tokens": np.ones(len(same_tag), bool), "hits": same_tag})
        return EVALUATION.records(MENTIONS, [side.units(tags.gold, types) for side in (gold, pred)], rows)

    tables: Tables = {
        BY_TYPE: rows.decisions_by_type(SharedTypes(types, gold.kind, pred.kind)),
        TOKENS: {"all": (len(same_tag), int(np.count_nonzero(same_tag)))},
    }
    return MatchedSides.of_tags(tags, len(gold), len(pred), tables, records)


def _fault(name: str, labels: str, letters: str) -> str:
    """Return why SeqScore stops at a tag, "" where it does not."""
    letter, dash, kind = name.partition("-")
    stops = f"{quoted(name)} is not a tag of {labels}, at which SeqScore stops with an"
    if not dash and name != "O":
        return f"{stops} InvalidLabelError"
    if dash and (letter == "O" or not kind):
        return f"{stops} {'InvalidLabelError' if letter == 'O' else 'AssertionError'}"
    return "" if len(letter) == 1 and letter in letters else f"{stops} EncodingError"


@dataclass(frozen=True, eq=False)
class _Sequence:
    """One side's tags: letter (index into LETTERS) and type (NO_TYPE of O) of each token, shape (tokens,).

    `is_illegal` says where the tag before, or the start of the sentence, does not allow a tag; `is_cut` where the end
    of the sentence does not.
    """

    letter: Int32
    kind: Int32
    sentences: Int64
    is_illegal: Bools
    is_cut: Bools

    @classmethod
    def of(
        cls, numbers: Int32, names: Sequence[str], types: Sequence[str], sentences: Int64, scheme: Scheme
    ) -> _Sequence:
        codes = {name: code for code, name in enumerate(types)}
        letters = np.array([LETTERS.index(name[0]) for name in names], np.int32)
        kinds = np.array([codes.get(name[2:], NO_TYPE) for name in names], np.int32)
        letter, kind = letters[numbers], kinds[numbers]
        is_illegal = ~scheme.legal[_before(letter, kind, sentences)]
        is_cut = np.zeros(len(letter), bool)
        last = sentences[1:] - 1
        is_cut[last] = ~scheme.legal[(letter[last] == 0).astype(np.intp), letter[last], 0]
        return cls(letter, kind, sentences, is_illegal, is_cut)

    def repaired(self, new: str) -> _Sequence:
        """Return the tags with those that are illegal of another letter; after a discarded I other I go too."""
        is_changed = self.is_illegal
        if new == "O":
            is_changed = last_true(self.is_illegal) > last_true(self.letter != LETTERS.index("I"))
        letter = np.where(is_changed, LETTERS.index(new), self.letter)
        kind = np.where(is_changed & (new == "O"), NO_TYPE, self.kind)
        return replace(self, letter=letter, kind=kind)

    def mentions(self, scheme: Scheme) -> TagChunks:
        """Return the mentions of legal tags."""
        is_tagged = self.letter != 0
        begins = scheme.parts[_before(self.letter, self.kind, self.sentences)]
        first = np.flatnonzero(is_tagged & begins)
        ends = np.ones(len(self.letter), bool)
        ends[:-1] = begins[1:]
        ends[self.sentences[1:] - 1] = True
        return TagChunks(first, np.flatnonzero(is_tagged & ends), self.kind[first])

    def tags(self, types: Sequence[str]) -> list[str]:
        pairs = zip(self.letter.tolist(), self.kind.tolist(), strict=True)
        return [f"{LETTERS[letter]}-{types[kind]}" if letter else "O" for letter, kind in pairs]


def _before(letter: Array, kind: Array, sentences: Int64) -> tuple[Array, Array, Array]:
    """Return the transition into each token as an index of `Scheme.legal`; O stands before a sentence."""
    same = previous_values(kind, sentences, NO_TYPE) == kind
    return same.astype(np.intp), previous_values(letter, sentences, 0), letter


def _refuse_transitions(tags: TagPair, sequences: Sequence[_Sequence]) -> None:
    """Refuse tags that the encoding does not allow where they stand.

    Raises:
        FormatError: there is any.
    """
    problems = ProblemList()
    for side, sequence in zip(tags, sequences, strict=True):
        starts = set(sequence.sentences.tolist())
        for token in np.flatnonzero(sequence.is_illegal).tolist():
            before = "O" if token in starts else side.tags[token - 1]
            finding = f"invalid transition {before} -> {side.tags[token]}"
            problems.append(_stop(side, token, finding))
        for token in np.flatnonzero(sequence.is_cut).tolist():
            problems.append(_stop(side, token, f"{side.tags[token]} at the end of a sentence"))
    if problems:
        raise FormatError(problems)


def _stop(side: Tagged, token: int, finding: str) -> Problem:
    remedy = "mend the tags, or, of BIO or IOB, name a --repair-method"
    return Problem(*side.place(token), f"{finding}, at which SeqScore stops with an EncodingError", remedy)


def _refuse_touching(iob2: TagPair, scheme: Scheme) -> None:
    """Refuse spans that touch another one of their type.

    Raises:
        FormatError: there is any.
    """
    problems = ProblemList()
    for side in iob2:
        starts = set(side.sentences.tolist())
        for token, tag in enumerate(side.tags):
            if tag[0] == "B" and token not in starts and side.tags[token - 1][2:] == tag[2:]:
                finding = f"a span of {tag[2:]} touches another one, which {scheme.name} cannot say"
                problems.append(Problem(*side.place(token), finding, "choose other labels"))
    if problems:
        raise FormatError(problems)


def figures(counts: CountTables, options: Options) -> Figures:
    scopes = EVALUATION.scopes(counts.rows(BY_TYPE))
    table = {scope: row | RATIOS.of(row) for scope, row in scopes.items()}
    n_tokens, n_hits = counts.rows(TOKENS).get("all", (0, 0))
    tokens = {"tokens": n_tokens, "hits": n_hits, "accuracy": n_hits / n_tokens if n_tokens else 0.0}
    rows = [
        *figure_rows(MENTIONS, table, EVALUATION.counters),
        *figure_rows(ACCURACY, {OVERALL: tokens}, ("tokens", "hits")),
    ]
    return Figures({MENTIONS: table, ACCURACY: tokens}, rows)


def _listed(outcome: Outcome) -> Iterator[tuple[str, Mapping[str, float]]]:
    for scope, row in outcome.scores[MENTIONS].items():
        yield ALL if scope == OVERALL else type_of_scope(scope), row


def _rounded(value: float) -> Decimal:
    """Return a ratio as a percentage of two places, a half rounded up."""
    return (Decimal(value) * 100).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def pretty(outcome: Outcome) -> str:
    """Return the table that the program prints."""
    heads = ["Type", *COLUMNS]
    rows = [
        [name, *(f"{_rounded(row[each]):6.2f}" if each in RATIO_NAMES else str(row[each]) for each in COLUMNS)]
        for name, row in _listed(outcome)
    ]
    # The table leaves two more blanks beside each head.
    widths = [max(len(head) + 2, *(len(row[number]) for row in rows)) for number, head in enumerate(heads)]
    lines = [_line(heads, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return "\n".join([*lines, *(_line(row, widths) for row in rows), ""])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if number else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def delim(outcome: Outcome) -> str:
    """Return the rows that the program prints, parted by tabs."""
    full = outcome.options["full-precision"]
    lines = ["\t".join(("Type", *COLUMNS))]
    for name, row in _listed(outcome):
        values = (row[each] if full or each not in RATIO_NAMES else _rounded(row[each]) for each in COLUMNS)
        lines.append("\t".join((name, *map(str, values))))
    return "\n".join([*lines, ""])


def conlleval(outcome: Outcome) -> str:
    """Return the program's printout in the manner of conlleval."""
    (_, whole), *by_type = _listed(outcome)
    tokens = outcome.scores[ACCURACY]
    lines = [
        f"processed {tokens['tokens']} tokens with {whole['Reference']} phrases; "
        f"found: {whole['Predicted']} phrases; correct: {whole['Correct']}.",
        f"accuracy: {100 * tokens['accuracy']:6.2f}%; {_percent(whole)}",
        *(f"{name:>17}: {_percent(row)}  {row['Predicted']}" for name, row in by_type),
    ]
    return "\n".join([*lines, ""])


def _percent(row: Mapping[str, float]) -> str:
    precision, recall, f1 = (100 * row[name] for name in RATIO_NAMES)
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


CONVENTIONS = (
    Convention(
        name="seqscore",
        family="tag sequences",
        sentence="Mentions with the same tokens and type; malformed tags are refused, or repaired as asked.",
        needs="one tag a token on both sides, over the same tokens and sentences",
        source="SeqScore 0.9.0 (Palen-Michel et al. 2021)",
        steps=ScorerSteps(read, from_layers, match),
        figures=figures,
        formats=("conll",),
        options=(
            ScorerOption("labels", "the encoding of the tags", choices=tuple(SCHEME_OF), default="BIO"),
            ScorerOption("repair-method", "the repair of malformed tags", choices=METHODS, default="none"),
            ScorerOption("full-precision", "print fractions in full, with the form delim", "flag", False),
        ),
        twins={MENTIONS: "strict"},
        forms={"pretty": pretty, "conlleval": conlleval, "delim": delim},
        ratios=RATIOS,
        other_formulas={"accuracy": "hits / tokens"},
    ),
)
