"""What predictions of wrong boundaries leave out or take in: determiner, title, punctuation, else the very words.

At each end where a prediction and its gold span of class `boundary only` part
(`nereval_core.analysis.errors.error_classes`), the text between the two bounds is looked at. It is `part of a word`
where one of its edges lies between two letters or digits (of a script that puts blanks between words), `white space`
where it is no more, `parenthesis` where it begins with an opening bracket or ends with a closing one, and else named by
its words: kinds of words joined by `+` where all, at most THREE of them, are known, or else the words themselves in
quotes.

Words are known by short lists, those of all four languages at once, and the first that holds a word decides: `die` is
a determiner in English too. Whether a word is an adjective is not found out but for the most frequent ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.error_classes import BOUNDARY, STRICT, taxonomy
from nereval_core.corpus import frozen
from nereval_core.corpus.masking import is_masked, masked_quotes, original
from nereval_core.problems import one_line
from nereval_core.scoring import Scores

End = Literal["left", "right"]
EDGES: tuple[End, ...] = ("left", "right")
CHANGES = ("leaves out", "takes in")
PART, BLANK, PARENTHESIS, NUMBER, QUOTE, PUNCTUATION, SYMBOL = (
    "part of a word",
    "white space",
    "parenthesis",
    "number",
    "quotation mark",
    "punctuation",
    "symbol",
)
THREE = 3
SHOWN = 40
"""Characters of the very words that a pattern has at most."""

_LISTS = {
    "determiner": (
        "a an the this that these those its his her their our my your "  # English
        "der die das den dem des ein eine einen einem einer eines "  # German
        "le la les l' un une ce cet cette ces son sa ses leur leurs "  # French
        "el los las lo una unos unas su sus este esta"  # Spanish
    ),
    "preposition": (
        "of in on at for from to by with "
        "von vom im am auf zu zum zur bei aus für mit "
        "de du d' à au aux en dans pour par sur "
        "del al con por para"
    ),
    "conjunction": "and or und oder et ou y",
    "title": (
        "mr mrs ms miss dr prof professor sir lord lady president king queen prince general captain colonel saint st "
        "herr herrn frau fräulein doktor präsident könig königin kaiser graf fürst freiherr "
        "m. mm. mme mlle monsieur madame mademoiselle président roi reine général comte duc "
        "señor señora señorita sr sra don doña rey reina doctor doctora"
    ),
    "adjective": (
        "new old young great big small large little high low first last late former good human national royal "
        "neue neuer neues neuen alte alter altes alten große großer großes großen kleine kleiner kleines kleinen "
        "hohe hoher hohes hohen erste erster erstes ersten letzte letzter letztes letzten "
        "nouveau nouvelle nouveaux nouvelles vieux vieille grand grande grands grandes petit petite petits petites "
        "haut haute bon bonne premier première dernier dernière "
        "nuevo nueva nuevos nuevas viejo vieja gran grandes pequeño pequeña alto alta bajo baja primero primera"
    ),
}
WORDS: Mapping[str, str] = MappingProxyType(
    {word: kind for kind, words in reversed(_LISTS.items()) for word in words.casefold().split()}
)
"""The kind of each word known, casefolded; with a full stop where it is known with one only."""
_TOKEN = re.compile(r"[^\W\d_]+['’]|\w+\.?|[^\w\s]")
_OPEN, _CLOSE = "([{", ")]}"
_QUOTES = frozenset("\"'`‘’‚“”„«»‹›")

PATTERN_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"end": "str", "pattern": "str", "records": "int64", "share": "float64"}
)
"""Columns of `pattern_table`: `end` is left or right, `pattern` what is left out or taken in there, `records` how many
of class `boundary only` do so, `share` theirs of all of that class. A record that differs at both ends is in two
rows."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The pattern of each gold span and prediction at both ends: indices into `names`, -1 for none, by edge."""

    gold: Mapping[End, NDArray[np.int32]]
    pred: Mapping[End, NDArray[np.int32]]
    names: tuple[str, ...]


_KEPT: WeakKeyDictionary[Scores, Patterns] = WeakKeyDictionary()


def patterns(scores: Scores) -> Patterns:
    """Return what each prediction of class `boundary only` leaves out or takes in; found once for the same scores.

    Without texts there are no patterns.
    """
    if scores not in _KEPT:
        _KEPT[scores] = _patterns(scores)
    return _KEPT[scores]


def _patterns(scores: Scores) -> Patterns:
    gold, pred = scores.layers(STRICT)
    found = taxonomy(scores)
    g = np.flatnonzero(found.gold == BOUNDARY)
    p = found.partner[g]
    hidden = is_masked(gold.documents)
    number: dict[str, int] = {}
    codes: dict[End, list[int]] = {edge: [] for edge in EDGES}
    for text, one, other in _texts(scores, g, p):
        for edge, mine, theirs in (("left", one[0], other[0]), ("right", other[1], one[1])):
            # At either end the text lies between the two bounds; the prediction leaves it out where gold reaches on.
            low, high = min(mine, theirs), max(mine, theirs)
            name = "" if low == high else f"{CHANGES[mine > theirs]} {kind_of(text, low, high)}"
            name = masked_quotes(name) if hidden else name
            codes[edge].append(number.setdefault(name, len(number)) if name else -1)  # type: ignore[index]
    sides = []
    for layer, spans in ((gold, g), (pred, p)):
        columns: dict[End, NDArray[np.int32]] = {}
        for edge in EDGES:
            column = np.full(len(layer), -1, np.int32)
            column[spans[: len(codes[edge])]] = codes[edge]
            columns[edge] = frozen(column)
        sides.append(MappingProxyType(columns))
    return Patterns(sides[0], sides[1], tuple(number))


def _texts(scores: Scores, g: NDArray[Any], p: NDArray[Any]) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Yield the text around each pair, gold's bounds and the prediction's; each document's text is fetched once."""
    gold, pred = scores.layers(STRICT)
    if gold.documents.sizes is not None:
        return
    # Kinds of words are told by the words themselves, which `_patterns` masks.
    last, text, texts = -1, "", original(gold.documents).texts
    columns = (gold.doc[g], gold.start[g], gold.end[g], pred.start[p], pred.end[p])
    for doc, start, end, low, high in zip(*(column.tolist() for column in columns), strict=True):
        if doc != last:
            last, text = doc, texts[doc]
        yield text, (start, end), (low, high)


def kind_of(text: str, low: int, high: int) -> str:
    """Name what stands between two places of a text (code points, end exclusive)."""
    if _inside(text, low) or _inside(text, high):
        return PART
    between = text[low:high].strip()
    if not between:
        return BLANK
    if between[0] in _OPEN or between[-1] in _CLOSE:
        return PARENTHESIS
    words = _TOKEN.findall(between)
    kinds = [_kind(word) for word in words]
    known = list(dict.fromkeys(kind for kind in kinds if kind is not None))
    if words and None not in kinds and len(known) <= THREE:
        return " + ".join(known)
    shown = one_line(" ".join(between.split()))
    return f"“{shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + '…'}”"


def _inside(text: str, place: int) -> bool:
    """Tell whether a place of a text lies inside a word."""
    if not 0 < place < len(text):
        return False
    around = text[place - 1 : place + 1]
    return all(char.isalnum() and unicodedata.east_asian_width(char) not in "WF" for char in around)


def _kind(word: str) -> str | None:
    plain = word.casefold().replace("’", "'")
    kind = WORDS.get(plain) or WORDS.get(plain.rstrip("."))
    if kind is not None:
        return kind
    if word.rstrip(".").isdecimal():
        return NUMBER
    if len(word) > 1 or word.isalnum() or word == "_":
        return None
    if word in _OPEN or word in _CLOSE:
        return PARENTHESIS
    if word in _QUOTES:
        return QUOTE
    return PUNCTUATION if unicodedata.category(word).startswith("P") else SYMBOL


def pattern_table(scores: Scores) -> pd.DataFrame:
    """Return what predictions of class `boundary only` leave out or take in, most frequent first: PATTERN_COLUMNS.

    Equals stand left before right, then by name.
    """
    found = patterns(scores)
    every = int(taxonomy(scores).counts()[BOUNDARY])
    rows = []
    for edge in EDGES:
        codes = found.gold[edge]
        counts = np.bincount(codes[codes >= 0], minlength=len(found.names)).tolist()
        rows += [(edge, name, n, n / every) for name, n in zip(found.names, counts, strict=True) if n]
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    return pd.DataFrame(rows, columns=list(PATTERN_COLUMNS)).astype(dict(PATTERN_COLUMNS))


__all__: Sequence[str] = ("CHANGES", "EDGES", "PATTERN_COLUMNS", "WORDS", "kind_of", "pattern_table", "patterns")
