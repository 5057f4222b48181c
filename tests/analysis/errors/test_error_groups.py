"""Groups of errors: counts against a second reading of the texts, gains against scoring anew, and folding."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from nereval_core.analysis.errors import error_report, group_query
from nereval_core.analysis.errors.error_groups import (
    COVERED,
    KINDS_OF_ERROR,
    LEAST_ODDS_RATIO,
    LEAST_RECORDS,
    LEAST_SURPRISE,
    SPURIOUS,
    ErrorGroup,
    GroupKey,
    find_groups,
    group_spans,
    log_likelihood_ratio,
)
from nereval_core.analysis.errors.group_words import (
    Annotators,
    group_examples,
    group_frame,
    group_sentence,
)
from nereval_core.analysis.errors.span_contexts import span_contexts
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.corpus.masking import masked
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import Decision
from pages.shared.data.loading import demo_names, load_demo
from tests.support.spans import settings


def scored(name: str, system: str, *criteria: str) -> Scores:
    corpus = load_demo(name).corpus
    return score_layers(corpus.gold, corpus.system(system), settings(*(criteria or ("strict",))))


CASES = [(demo, system) for demo in demo_names() for system in ("rules", "perceptron", "annotator-2")]


def all_groups(scores: Scores, criterion: str = "strict") -> Iterator[ErrorGroup]:
    for group in find_groups(scores, criterion):
        yield group
        yield from group.narrower


@pytest.mark.parametrize(("demo", "system"), CASES)
def test_groups_are_surprising_and_counted_among_the_spans_of_their_context(demo: str, system: str) -> None:
    scores = scored(demo, system)
    gold, pred = scores.layers("strict")
    for group in all_groups(scores):
        side = pred if group.key.kind == SPURIOUS else gold
        spans = group.pred if group.key.kind == SPURIOUS else group.gold
        candidates = [span for span in range(len(side)) if group.key.type in ("", side.label(span))]
        in_context = [span for span in candidates if has_context(side, span, group.key)]
        if not group.key.feature:
            # A type is held against the other types.
            candidates = list(range(len(side)))
        assert set(spans.tolist()) <= set(in_context) and group.spans == len(in_context)
        errors = [span for span in candidates if has_error(scores, span, group.key)]
        with_error = len(set(errors) & set(in_context))
        assert with_error == group.records >= LEAST_RECORDS
        table = np.array(
            [
                [with_error, len(in_context) - with_error],
                [len(errors) - with_error, len(candidates) - len(in_context) - len(errors) + with_error],
            ]
        )
        assert group.surprise >= LEAST_SURPRISE
        assert group.surprise == pytest.approx(chi2_contingency(table, correction=False, lambda_=0).statistic)
        assert table[0, 0] * table[1, 1] >= LEAST_ODDS_RATIO * table[0, 1] * table[1, 0]


def has_error(scores: Scores, span: int, key: GroupKey) -> bool:
    """Tell whether a span has the kind of error, from the texts and bounds of its record."""
    gold, pred = scores.layers("strict")
    if key.kind == SPURIOUS:
        return bool(scores.decisions("strict")[1][span] == Decision.SPU)
    decision = scores.decisions("strict")[0][span]
    if key.kind == "missed":
        return bool(decision == Decision.MIS)
    partner = int(scores.partners("strict")[0][span])
    if partner < 0 or decision == Decision.COR:
        return False
    if key.kind == "typed":
        return gold.label(span) != pred.label(partner) == key.predicted
    text = gold.documents.texts[gold.doc[span]]
    gold_start, gold_end = int(gold.start[span]), int(gold.end[span])
    start, end = int(pred.start[partner]), int(pred.end[partner])
    cut = any(
        bound not in (gold_start, gold_end) and bound and text[bound - 1 : bound + 1].isalnum()
        for bound in (start, end)
    )
    words = {
        "takes-in-left": text[start:gold_start],
        "takes-in-right": text[gold_end:end],
        "leaves-out-left": text[gold_start:start] if start < gold_end else "",
        "leaves-out-right": text[end:gold_end] if end > gold_start else "",
    }
    return cut if key.kind == "cuts-word" else not cut and bool(words[key.kind].strip())


WORD = re.compile(r"[^\W_]\w*|\w|[^\w\s]")


def has_context(side: Layer, span: int, key: GroupKey) -> bool:
    """Tell whether a span has the feature of a group, by words that are searched for in its text."""
    text = side.documents.texts[side.doc[span]].casefold()
    low, high = int(side.start[span]), int(side.end[span])
    words = [match.group() for match in WORD.finditer(text, low, high)]
    if key.feature == "before":
        return text[:low].rstrip().endswith(key.value)
    if key.feature == "after":
        return text[high:].lstrip().startswith(key.value)
    if key.feature in ("first", "last"):
        return words[0 if key.feature == "first" else -1] == key.value
    if key.feature == "words":
        low_number = int(key.value[0])
        return low_number <= len(words) <= {1: 1, 2: 3, 4: 99}[low_number]
    # Kinds and shapes have tests of their own.
    contexts = span_contexts(side)
    return not key.feature or contexts.names[key.feature][contexts.codes[key.feature][span]] == key.value


def mended(scores: Scores, group: ErrorGroup) -> Layer:
    """Return the predictions with the records of a group mended, built anew from tuples."""
    gold, pred = scores.layers("strict")
    partner = scores.partners("strict")[0]
    gone = {*group.pred.tolist(), *(int(partner[span]) for span in group.gold.tolist())}
    spans = [(int(pred.doc[i]), pred.parts(i), pred.label(i)) for i in range(len(pred)) if i not in gone]
    spans += [(int(gold.doc[i]), gold.parts(i), gold.label(i)) for i in group.gold.tolist()]
    docs, parts, types = zip(*spans, strict=True)
    fragments = {number: part for number, part in enumerate(parts) if len(part) > 1}
    starts, ends = [part[0][0] for part in parts], [part[-1][1] for part in parts]
    return layer("mended", gold.documents, docs, starts, ends, types, extras={"fragments": fragments})


@pytest.mark.parametrize(("demo", "system"), CASES)
def test_the_gain_is_that_of_scoring_the_mended_predictions(demo: str, system: str) -> None:
    scores = scored(demo, system)
    gold, _ = scores.layers("strict")
    groups = list(all_groups(scores))
    for group in groups:
        after = score_layers(gold, mended(scores, group), settings("strict")).counts("strict")
        assert group.gain == pytest.approx(after.f1 - scores.counts("strict").f1)
    gains = [group.gain for group in find_groups(scores, "strict")]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(("demo", "system"), CASES)
def test_no_group_repeats_another(demo: str, system: str) -> None:
    groups = find_groups(scored(demo, system), "strict")
    records = [({*group.gold.tolist()}, {*group.pred.tolist()}) for group in groups]
    for place, (group, own) in enumerate(zip(groups, records, strict=True)):
        for other, (other_gold, other_pred) in zip(groups[:place], records[:place], strict=True):
            shared = len(own[0] & other_gold) + len(own[1] & other_pred)
            same_kind = (group.key.kind, group.key.predicted) == (other.key.kind, other.key.predicted)
            assert not same_kind or shared <= COVERED * group.records
        for narrower in group.narrower:
            assert narrower.records < group.records
            assert len({*narrower.gold.tolist()} & own[0]) + len({*narrower.pred.tolist()} & own[1]) > (
                COVERED * narrower.records
            )


@pytest.mark.parametrize("criterion", ["strict", "partial", "type", "left"])
def test_every_group_leads_to_its_records(criterion: str) -> None:
    corpus = load_demo("biology").corpus
    sides = corpus.gold, corpus.system("perceptron")
    scores = score_layers(*sides, settings("strict", criterion) if criterion != "strict" else settings("strict"))
    records = ledger(scores, criterion, sides)
    groups = list(all_groups(scores, criterion))
    assert groups
    for group in groups:
        assert records.total(group_query(group.key)).records == group.records
        assert GroupKey.of(str(group.key)) == group.key
        for ours, theirs in zip(group_spans(scores, criterion, group.key), (group.gold, group.pred), strict=True):
            assert ours.tolist() == theirs.tolist()


def layers_taking_in_the() -> tuple[Layer, Layer]:
    """Return 12 names after "the", of which predictions take it in in 6, and 12 after "of", where they never do."""
    text = "".join(f"the Name{number} , of Thing{number} . " for number in range(10, 22))
    documents = Documents(("d",), (text,))
    starts = [match.start() for match in re.finditer("Name|Thing", text)]
    ends = [text.index(" ", start) for start in starts]
    gold = layer("gold", documents, [0] * 24, starts, ends, ["Place"] * 24)
    moved = [start - 4 if text[start] == "N" and number < 12 else start for number, start in enumerate(starts)]
    return gold, layer("pred", documents, [0] * 24, moved, ends, ["Place"] * 24)


def test_a_pattern_of_boundaries_in_words_with_examples() -> None:
    scores = score_layers(*layers_taking_in_the(), settings("strict"))
    (group,) = find_groups(scores, "strict")
    assert group_sentence(group.key, group.quote) == "Predictions take in “the” at the left"
    assert (group.records, group.spans, group.elsewhere) == (6, 12, 0.0)
    assert group.gain == pytest.approx(6 / 24)
    examples = group_examples(scores, "strict", group)
    assert examples[0].text.startswith("«[the] Name10» , of Thing10 .")
    assert examples[1].text.startswith("the Name10 , of Thing10 . «[the] Name11» , of")
    assert len(examples) == 5 and examples[0].types == ("Place",)


SENTENCES = [
    ("kind:missed;type:protein;before-kind:number", "Misses protein after a number"),
    ("kind:missed;form:p53", "Misses “p53”"),
    ("kind:missed;type:DNA;form:p53", "Misses DNA “p53”"),
    ("kind:typed;as:ORG;type:LOC;after:of", "ORG for LOC before “of”"),
    ("kind:typed;as:ORG;shape:all capitals", "ORG for another type in capitals"),
    ("kind:spurious;type:ORG;words:1", "Spurious ORG of one token"),
    ("kind:spurious;place:start of the text", "Spurious predictions at the start of the text"),
    ("kind:takes-in-left;before-kind:adjective", "Predictions take in an adjective at the left"),
    ("kind:leaves-out-right;type:X;last:st", "Predictions leave out “st” at the right of X"),
    (
        "kind:leaves-out-left;type:X;words:4+",
        "Predictions leave out words at the left of X spans of 4 or more tokens",
    ),
    ("kind:leaves-out-left;type:X", "Predictions leave out words at the left of X"),
    ("kind:cuts-word;type:X", "Predictions begin or end inside a word of X"),
]


@pytest.mark.parametrize(("key", "sentence"), SENTENCES)
def test_sentences(key: str, sentence: str) -> None:
    group = GroupKey.of(key)
    assert group is not None and str(group) == key
    assert group_sentence(group) == sentence
    assert "rediction" not in group_sentence(group, annotators=Annotators("anna", "ben"))


@pytest.mark.parametrize("text", ["", "kind:no-such", "kind:missed;before:a;after:b", "kind:takes-in-left;form:x"])
def test_other_words_are_not_keys(text: str) -> None:
    assert GroupKey.of(text) is None


@pytest.mark.parametrize("value", ["%", ";", ":", "a:b;c%3B", "“”"])
def test_keys_hold_any_word(value: str) -> None:
    key = GroupKey("missed", type=value, feature="before", value=value)
    assert GroupKey.of(str(key)) == key


def test_masked_texts_name_no_word() -> None:
    corpus = masked(load_demo("biology").corpus)
    scores = score_layers(corpus.gold, corpus.system("perceptron"))
    groups = list(all_groups(scores))
    assert groups and not {group.key.feature for group in groups} & {"before", "after", "first", "last", "form"}
    assert not any(group.quote for group in groups)


def test_criteria_that_count_tokens_have_no_groups() -> None:
    corpus = load_demo("biology").corpus
    scores = score_layers(corpus.gold, corpus.system("rules"), settings("strict", "fragment"))
    with pytest.raises(FormatError, match="choose another criterion"):
        find_groups(scores, "fragment")
    assert not len(error_report(scores, ["strict", "fragment"]).groups("fragment"))


def test_without_spans_there_are_none() -> None:
    documents = Documents(("d",), ("text",))
    none = layer("gold", documents, [], [], [], [])
    scores = score_layers(none, none)
    assert find_groups(scores, "strict") == () and not len(group_frame(scores, "strict", ()))


def test_the_likelihood_ratio_of_empty_cells() -> None:
    rows = [np.array(column) for column in ([3, 0, 5, 0], [3, 4, 5, 0], [0, 2, 5, 1], [9, 4, 5, 2])]
    values = log_likelihood_ratio(*rows)
    assert values[2] == 0 and values[3] == 0 and values[0] > 10 and np.isfinite(values).all()


def test_kinds_of_errors_are_about_features_that_exist() -> None:
    scores = scored("biology", "rules")
    known = set(span_contexts(scores.gold).codes)
    assert {feature for features in KINDS_OF_ERROR.values() for feature in features} <= known
