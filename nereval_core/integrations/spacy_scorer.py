"""A scorer for spaCy's entity recognizer: `[components.ner.scorer]` with `@scorers = "nereval.ner_scorer.v1"`.

It gives what spaCy's own scorer gives, and of the four schemas `nereval_strict_p`, `_r`, `_f` and so on, which can
stand in `[training.score_weights]`. `spacy evaluate` prints no keys it does not know: the schemas therefore stand in
`ents_per_type` too, as rows `(strict)`, `(exact)`, `(partial)` and `(type)` below those of the types.

Entities are compared by tokens of the reference, as spaCy does: documents without entity annotation, and predictions on
tokens without, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.scorer import get_ner_prf
from spacy.util import registry

from nereval_core import score
from nereval_core.scoring.criteria import SCHEMAS

Span = tuple[int, int, str]
MEASURES = {"p": "precision", "r": "recall", "f": "f1"}


@registry.scorers("nereval.ner_scorer.v1")  # type: ignore[untyped-decorator]
def make_scorer() -> Callable[..., dict[str, Any]]:
    return score_examples


def score_examples(examples: Iterable[Any], **options: Any) -> dict[str, Any]:
    """Return spaCy's entity scores of `Example`s and those of the schemas; an undefined ratio is None."""
    examples = list(examples)
    scores: dict[str, Any] = get_ner_prf(examples, **options)
    sides = [_entities(example) for example in examples if example.reference.has_annotation("ENT_IOB")]
    if not any(gold or pred for gold, pred in sides):
        return scores | {f"nereval_{name}_{letter}": None for name in SCHEMAS for letter in MEASURES}
    schema_scores = score([gold for gold, _ in sides], [pred for _, pred in sides])
    rows = {
        name: {letter: getattr(schema_scores.counts(name), measure) for letter, measure in MEASURES.items()}
        for name in SCHEMAS
    }
    per_type = (scores["ents_per_type"] or {}) | {f"({name})": row for name, row in rows.items()}
    flat = {f"nereval_{name}_{letter}": value for name, row in rows.items() for letter, value in row.items()}
    return scores | {"ents_per_type": per_type} | flat


def _entities(example: Any) -> tuple[list[Span], list[Span]]:
    """Return the reference's entities and the predicted ones, both by tokens of the reference, ends exclusive."""
    return [(span.start, span.end, span.label_) for span in example.reference.ents], list(_predicted(example))


def _predicted(example: Any) -> Iterator[Span]:
    tokens = example.alignment.x2y
    for span in example.predicted.ents:
        covered = tokens[span.start : span.end]
        if len(covered):
            start, end = int(covered[0]), int(covered[-1]) + 1
            # 0: the token has no annotation.
            if all(token.ent_iob != 0 for token in example.reference[start:end]):
                yield start, end, span.label_
