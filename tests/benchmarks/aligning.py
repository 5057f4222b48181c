"""How long it takes to carry spans over between texts that are written otherwise: ten million characters.

Seconds are processor time of this process, all threads. White space is doubled, quotes are curled and every é is taken
apart in the prediction's texts, so that all documents differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from nereval_core.corpus.builder import Builder
from nereval_core.pairing import pair
from nereval_core.problems import FormatError
from nereval_core.readers import Reading
from tests.benchmarks.scales import Scale
from tests.benchmarks.slices import seconds

SENTENCE = 'The "café" in New York, so they say, opens at nine; its owner doesn\'t.\n'
MARKED = ("café", "New York", "owner")
CHARACTERS = 10_000_000


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    characters = scale.of(CHARACTERS, CHARACTERS // 10, 10_000)
    for documents in (scale.of(5_000, 5_000, 50), 1):
        gold, pred = (_reading(documents, characters, other) for other in (False, True))
        size = f"{characters:,} characters in {documents:,} document{'s' if documents > 1 else ''}"
        aligned = min(seconds(partial(pair, gold, pred, align_text=True)) for _ in range(3))
        yield f"s: aligning texts, {size}", aligned, "<= 3"
        yield f"s: refusing them unaligned, {size}", seconds(partial(_refused, gold, pred)), "reported"


def _reading(documents: int, characters: int, other: bool) -> Reading:
    sentence = _otherwise(SENTENCE) if other else SENTENCE
    words = [_otherwise(word) if other else word for word in MARKED]
    builder = Builder("aligning")
    count = max(characters // len(SENTENCE) // documents, 1)
    for number in range(documents):
        builder.document(f"d{number}", sentence * count)
        for low in range(0, count * len(sentence), len(sentence)):
            for word in words:
                builder.span(low + sentence.index(word), low + sentence.index(word) + len(word), "X")
    layer = builder.finish("aligning")
    return Reading(layer.documents, layer, "benchmark")


def _otherwise(text: str) -> str:
    return text.replace(" ", "  ").replace('"', "“").replace("é", "e\u0301")


def _refused(gold: Reading, pred: Reading) -> None:
    try:
        pair(gold, pred)
    except FormatError:
        return
    raise AssertionError("texts that differ are refused")
