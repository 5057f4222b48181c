"""The difference of a gold span and a prediction as pieces of text: what both have, what is taken in, what left out.

Fragments count: the text between them belongs to neither side, and a gap stands in its place. All places are code
points, end exclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Sign = Literal["", "+", "-", "…"]
BOTH: Sign = ""
TAKEN_IN: Sign = "+"
LEFT_OUT: Sign = "-"
GAP: Sign = "…"
Fragments = Sequence[tuple[int, int]]
MOST_OF_PIECE = 60
"""Characters of a piece; a longer one is shortened in its middle."""


class Piece(NamedTuple):
    """Text on one line, and whose it is: both sides', taken in by the prediction, left out by it, or a gap."""

    text: str
    sign: Sign


def span_difference(text: str, gold: Fragments, pred: Fragments) -> list[Piece]:
    """Return the pieces of a gold span and its prediction in the order of the text.

    A record of one side alone has nothing to differ from: its pieces have the sign BOTH. White space is one blank, and
    the pieces together hold that between them.
    """
    places = sorted({place for fragments in (gold, pred) for part in fragments for place in part})
    pieces: list[Piece] = []
    for low, high in pairwise(places):
        in_gold, in_pred = _covers(gold, low, high), _covers(pred, low, high)
        between = text[low:high]
        if not (in_gold or in_pred):
            # Fragments that are only a blank apart read as one text.
            sign: Sign = GAP if between.strip() else BOTH
            between = f" {GAP} " if between.strip() else between
        elif in_gold == in_pred or not gold or not pred:
            sign = BOTH
        else:
            sign = TAKEN_IN if in_pred else LEFT_OUT
        if pieces and pieces[-1].sign == sign:
            pieces[-1] = Piece(pieces[-1].text + between, sign)
        else:
            pieces.append(Piece(between, sign))
    return _without_outer_blanks([Piece(_on_line(piece.text), piece.sign) for piece in pieces])


def _covers(fragments: Fragments, low: int, high: int) -> bool:
    return any(start <= low and high <= end for start, end in fragments)


def _on_line(text: str) -> str:
    """Return a text on one line, with one blank for white space at its ends too, and the middle of a long one cut."""
    before, after = (" " if text[place : place + 1 or None].isspace() else "" for place in (0, -1))
    words = " ".join(text.split())
    if len(words) > MOST_OF_PIECE:
        half = MOST_OF_PIECE // 2
        words = f"{words[:half].rstrip()} {GAP} {words[-half:].lstrip()}"
    return f"{before}{words}{after}" if words else " "


def _without_outer_blanks(pieces: list[Piece]) -> list[Piece]:
    if pieces:
        pieces[0] = Piece(pieces[0].text.lstrip(), pieces[0].sign)
        pieces[-1] = Piece(pieces[-1].text.rstrip(), pieces[-1].sign)
    return [piece for piece in pieces if piece.text]


def difference_text(pieces: Sequence[Piece]) -> str:
    """Return pieces as plain text: taken in text is [in brackets], left out text ~between tildes~."""
    marks = {BOTH: ("", ""), GAP: ("", ""), TAKEN_IN: ("[", "]"), LEFT_OUT: ("~", "~")}
    words = []
    for piece in pieces:
        opening, closing = marks[piece.sign]
        bare = piece.text.strip()
        head, tail = piece.text[: len(piece.text) - len(piece.text.lstrip())], piece.text[len(piece.text.rstrip()) :]
        words.append(f"{head}{opening}{bare}{closing}{tail if bare else ''}")
    return "".join(words)
