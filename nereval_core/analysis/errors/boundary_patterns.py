"""Boundary patterns: the kinds of words that predictions with wrong boundaries leave out or take in.

At each end where a prediction of class `boundary only` (`nereval_core.analysis.errors.error_classes`) differs from its
gold span, the text between the two bounds is named. It is `part of a word` if one of its edges lies between two letters
or digits (of a script that puts blanks between words), `white space` if it is nothing else, and `parenthesis` if it
begins with an opening bracket or ends with a closing one. Otherwise it is named by the kinds of its words, joined by
`+`, if all are known and there are at most MOST_KINDS, or else by the words themselves in quotes.

Kinds of words come from short lists for four languages together, and the first list that holds a word decides: `die` is
a determiner in English too. Only the most frequent adjectives are listed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.error_classes import BOUNDARY, STRICT, classify_errors
from nereval_core.corpus import frozen
from nereval_core.corpus.masking import is_masked, masked_quotes, original
from nereval_core.problems import one_line
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

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
MOST_KINDS = 3
MOST_QUOTED_CHARACTERS = 40
"""Characters of the words quoted in a pattern."""

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
WORD_KINDS: Mapping[str, str] = {
    word: kind for kind, words in reversed(_LISTS.items()) for word in words.casefold().split()
}
"""The kind of each known word, casefolded; words known only as abbreviations have their full stop."""
_TOKEN = re.compile(r"[^\W\d_]+['’]|\w+\.?|[^\w\s]")
_OPEN, _CLOSE = "([{", ")]}"
_QUOTES = frozenset("\"'`‘’‚“”„«»‹›")

PATTERN_COLUMNS: Columns = {"end": TEXT_DTYPE, "pattern": TEXT_DTYPE, "records": "int64", "share": "float64"}
"""Columns of `pattern_table`: `end` is left or right, `pattern` names the text left out or taken in there, `records` is
the number of such records of class `boundary only`, `share` their share of that class. A record that differs at both
ends is in two rows."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The pattern of each gold span and prediction by edge, as indices into `names`, -1 for none."""

    gold: Mapping[End, NDArray[np.int32]]
    pred: Mapping[End, NDArray[np.int32]]
    names: tuple[str, ...]


_KEPT: WeakKeyDictionary[Scores, Patterns] = WeakKeyDictionary()


def find_patterns(scores: Scores) -> Patterns:
    """Return the boundary patterns of predictions of class `boundary only`, kept as long as the scores.

    Documents without texts have no patterns.
    """
    if scores not in _KEPT:
        _KEPT[scores] = _find_patterns(scores)
    return _KEPT[scores]


def _find_patterns(scores: Scores) -> Patterns:
    gold, pred = scores.layers(STRICT)
    errors = classify_errors(scores)
    g = np.flatnonzero(errors.gold == BOUNDARY)
    p = errors.partner[g]
    hidden = is_masked(gold.documents)
    number: dict[str, int] = {}
    codes: dict[End, list[int]] = {edge: [] for edge in EDGES}
    for text, gold_text, pred_text in _pair_texts(scores, g, p):
        for edge, mine, theirs in zip(EDGES, (gold_text[0], pred_text[1]), (pred_text[0], gold_text[1]), strict=True):
            # At either end the text lies between the two bounds; the prediction leaves it out if gold extends further.
            low, high = min(mine, theirs), max(mine, theirs)
            name = "" if low == high else f"{CHANGES[mine > theirs]} {name_difference(text, low, high)}"
            name = masked_quotes(name) if hidden else name
            codes[edge].append(number.setdefault(name, len(number)) if name else -1)
    sides = []
    for layer, spans in ((gold, g), (pred, p)):
        columns: dict[End, NDArray[np.int32]] = {}
        for edge in EDGES:
            column = np.full(len(layer), -1, np.int32)
            column[spans[: len(codes[edge])]] = codes[edge]
            columns[edge] = frozen(column)
        sides.append(MappingProxyType(columns))
    return Patterns(sides[0], sides[1], tuple(number))


def _pair_texts(
    scores: Scores, g: NDArray[Any], p: NDArray[Any]
) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Yield the document's text of each pair with gold's and the prediction's bounds; a text is fetched once."""
    gold, pred = scores.layers(STRICT)
    if gold.documents.sizes is not None:
        return
    # Kinds are found from the original words, which `_find_patterns` masks.
    last, text, texts = -1, "", original(gold.documents).texts
    columns = (gold.doc[g], gold.start[g], gold.end[g], pred.start[p], pred.end[p])
    for doc, start, end, low, high in zip(*(column.tolist() for column in columns), strict=True):
        if doc != last:
            last, text = doc, texts[doc]
        yield text, (start, end), (low, high)


def name_difference(text: str, low: int, high: int) -> str:
    """Return the name of the text between two places (code points, end exclusive)."""
    if _is_inside_word(text, low) or _is_inside_word(text, high):
        return PART
    between = text[low:high].strip()
    if not between:
        return BLANK
    if between[0] in _OPEN or between[-1] in _CLOSE:
        return PARENTHESIS
    words = _TOKEN.findall(between)
    kinds = [word_kind(word) for word in words]
    distinct = list(dict.fromkeys(kind for kind in kinds if kind is not None))
    if words and None not in kinds and len(distinct) <= MOST_KINDS:
        return " + ".join(distinct)
    quote = one_line(" ".join(between.split()))
    return f"“{quote if len(quote) <= MOST_QUOTED_CHARACTERS else quote[: MOST_QUOTED_CHARACTERS - 1] + '…'}”"


def _is_inside_word(text: str, place: int) -> bool:
    """Tell whether a place of a text lies inside a word."""
    if not 0 < place < len(text):
        return False
    around = text[place - 1 : place + 1]
    return all(char.isalnum() and unicodedata.east_asian_width(char) not in "WF" for char in around)


def word_kind(word: str) -> str | None:
    """Return the kind of a word or a sign, None where no list has it."""
    plain = word.casefold().replace("’", "'")
    kind = WORD_KINDS.get(plain) or WORD_KINDS.get(plain.rstrip("."))
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
    """Return the boundary patterns of class `boundary only`, most frequent first: PATTERN_COLUMNS.

    Equally frequent patterns are sorted left before right, then by name.
    """
    patterns = find_patterns(scores)
    whole = int(classify_errors(scores).counts()[BOUNDARY])
    rows = []
    for edge in EDGES:
        codes = patterns.gold[edge]
        counts = np.bincount(codes[codes >= 0], minlength=len(patterns.names)).tolist()
        rows += [(edge, name, n, n / whole) for name, n in zip(patterns.names, counts, strict=True) if n]
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    return typed_table(rows, PATTERN_COLUMNS)
