"""Files of columns drawn with a seed: CoNLL's and CLEF-HIPE's, as large as asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TYPES = ("PER", "LOC", "ORG", "MISC")
BATCH = 25_000
"""Gold spans drawn at once; a whole number of documents."""
BY_DOCUMENT = 25
WORDS = 20_000
LETTERS = np.frombuffer(b"etaoinshrdlucmfwypvbgk", np.uint8)
PARTS = ("NN", "NNP", "IN", "DT", "JJ", "VBD", "CD", ".", "NNS")
PHRASES = ("I-NP", "B-NP", "O", "I-VP")
MISC = ("_", "_", "_", "_", "_", "NoSpaceAfter", "EndOfLine", "EndOfLine|NoSpaceAfter", "LED0.12", "LED0.00")


def conll(
    path: Path, spans: int, *, columns: int = 4, separator: str = " ", accents: float = 0.0, seed: int = 0
) -> None:
    """Write a file of CoNLL-2003's make: 160 MB for a million gold spans, 25 of them in a document of 250 tokens.

    With two columns it has no parts of speech. `accents` is the share of words with a letter beyond ASCII.
    """
    middle = [f"{part}{separator}{phrase}{separator}" for part in PARTS for phrase in PHRASES] if columns == 4 else [""]
    tails = _objects([f"{separator}{text}{tag}\n" for text in middle for tag in _tags()])
    mark = separator.join(["-DOCSTART-", *["-X-"] * (columns - 2), "O"]).encode() + b"\n\n"
    with path.open("wb") as file:
        for words, tags, sentence, document in _drawn(spans, accents, seed):
            rng = np.random.default_rng(len(words))
            pieces = np.empty((len(words), 3), object)
            pieces[:, 0] = words
            pieces[:, 1] = tails[rng.integers(0, len(middle), len(words)) * len(_tags()) + tags]
            pieces[:, 2] = b""
            pieces[sentence, 2] = b"\n"
            pieces[document, 0] = mark + pieces[document, 0]
            file.write(b"".join(pieces.ravel().tolist()))


def hipe(path: Path, spans: int, *, seed: int = 0) -> None:
    """Write a file of HIPE-2022's make, ten columns, links for all spans, flags and noise for half of the tokens."""
    with path.open("wb") as file:
        file.write(b"TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\t")
        file.write(b"NEL-METO\tNEL-LIT\tMISC\n")
        number = 0
        for words, tags, sentence, document in _drawn(spans, 0.1, seed):
            rng = np.random.default_rng(len(words))
            flags = rng.integers(0, len(MISC), len(words))
            links = _objects([f"Q{link}" for link in range(5000)])[rng.integers(0, 5000, len(words))]
            links[tags == 0] = b"_"
            heads = _objects([f"\t{tag}" + 6 * "\t_" + "\t" for tag in _tags()])
            ends = _objects([f"\t{misc}\n" for misc in MISC] + ["\tEndOfSentence\n"])
            flags[sentence] = len(MISC)
            pieces = np.stack([words, heads[tags], links, ends[flags]], axis=1)
            for row in document.tolist():
                number += 1
                about = f"# hipe2022:document_id = d{number:07}\n# hipe2022:date = 18{number % 100:02}-01-20\n"
                pieces[row, 0] = f"{about}# hipe2022:language = de\n".encode() + pieces[row, 0]
            file.write(b"".join(pieces.ravel().tolist()))


def _tags() -> list[str]:
    return ["O", *(f"{letter}-{kind}" for kind in TYPES for letter in "BI")]


def _objects(texts: list[str]) -> NDArray[np.object_]:
    return np.array([text.encode() for text in texts], object)


def _drawn(
    spans: int, accents: float, seed: int
) -> Iterator[tuple[NDArray[np.object_], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield words, tags, the last token of each sentence (of two spans), and the first of each document."""
    rng = np.random.default_rng(seed)
    raw = [rng.choice(LETTERS, size).tobytes() for size in np.clip(rng.geometric(0.22, WORDS), 1, 18).tolist()]
    for number in rng.choice(WORDS, int(WORDS * accents), replace=False).tolist():
        raw[number] += "é".encode()
    vocabulary = np.array(raw, object)
    for low in range(0, spans, BATCH):
        count = min(BATCH, spans - low)
        gap = rng.integers(4, 14, count)
        length = rng.choice([1, 1, 1, 2, 2, 3], count)
        kind = rng.integers(0, len(TYPES), count)
        end = np.cumsum(gap + length)
        tags = np.zeros(int(end[-1]), np.int64)
        for inner in range(3):
            here = length > inner
            tags[(end - length + inner)[here]] = 1 + 2 * kind[here] + (inner > 0)
        words = vocabulary[rng.integers(0, WORDS, len(tags))]
        yield words, tags, end[1::2] - 1, (end - gap - length)[::BY_DOCUMENT]
