"""Decode tags into chunks: find the scheme, name the tags that break it, and cut a row of tags as the scheme says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Place
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, counted, either_option, quoted
from nereval_core.readers.read_settings import ReadOptions
from nereval_core.readers.shared.tag_cells import (
    NUMBERS_PROBLEM,
    NUMBERS_REMEDY,
    Notation,
    no_tag_remedy,
)
from nereval_core.readers.shared.tag_schemes import (
    CONLLEVAL,
    LETTERS,
    SCHEMES,
    Repair,
    Scheme,
    Tags,
    scheme_named,
)

CONLLEVAL_REMEDY = "--repair conlleval (cut as that program does)"
DISCARD_REMEDY = "--repair discard (chunk dropped)"
GOLDS = "gold's"
"""The origin of a scheme that a prediction shares with gold."""
NO_TAGS_NOTE = "no tag but O: the scheme cannot be told"
ALONE = "no tag has a letter before its type: runs of one type are one span; say otherwise by --scheme"


def scheme_of_tags(
    tags: Tags, place: Callable[[int], Place], options: ReadOptions, notation: Notation
) -> tuple[Scheme | None, str]:
    """Return the scheme named or detected, and a note on it; `place` gives source and line of a token.

    Raises:
        FormatError: several schemes fit and do not decode alike, or tags are numbers without a list of labels.
    """
    if notation.numbered:
        raise FormatError.single(*place(tags.odd[0]), NUMBERS_PROBLEM, NUMBERS_REMEDY)
    if options.scheme:
        scheme = scheme_named(options.scheme)
        return scheme, scheme_note(scheme.name, "given")
    if notation.types:
        return SCHEMES["IO"], scheme_note("IO", ALONE)
    if options.gold_scheme:
        scheme, origin = _scheme_beside_gold(tags, options.gold_scheme)
        return scheme, scheme_note(scheme.name, origin)
    detected = detect(tags)
    if detected.rivals:
        names = ", ".join(detected.rivals)
        raise FormatError.single(
            *place(detected.parting),
            f"the tags fit {names}, which part here",
            f"name the scheme: {either_option('--scheme', detected.rivals)}",
        )
    if detected.scheme is None:
        return None, NO_TAGS_NOTE
    least = counted(detected.broken, "time")
    origin = f"no scheme fits; this one is broken least, {least}" if detected.broken else "detected"
    return detected.scheme, scheme_note(detected.scheme.name, origin)


def _scheme_beside_gold(tags: Tags, gold_scheme: str) -> tuple[Scheme, str]:
    """Return the scheme of a prediction and its origin in words.

    It is gold's where the tags are legal under it, or under no other, or under others that decode them differently.
    """
    scheme = scheme_named(gold_scheme)
    if not detect(tags, [scheme]).broken:
        return scheme, GOLDS
    detected = detect(tags)
    if detected.scheme is None or detected.broken or detected.rivals:
        return scheme, GOLDS
    return detected.scheme, f"detected; the tags do not fit gold's scheme, {scheme.name}"


def scheme_note(name: str, origin: str) -> str:
    """Return the note on the tag scheme that a layer was read by."""
    return f"tag scheme {name} ({origin})"


def tag_problems(
    tags: Tags,
    scheme: Scheme | None,
    written: Callable[[int], str],
    place: Callable[[int], Place],
    options: ReadOptions,
    spoilt: Collection[int] = (),
    schemes: Collection[Scheme] = tuple(SCHEMES.values()),
) -> list[Problem]:
    """Return a problem for each token whose tag is not one, and, without repair, for each that breaks the scheme.

    `spoilt` are tokens whose tags are refused already, `schemes` those that `--scheme` may name.
    """
    beside = bool(len(tags.tokens))
    problems = ProblemList()
    problems += (
        Problem(*place(token), f"{quoted(cell)} is not a tag", no_tag_remedy(cell, beside_tags=beside))
        for token, cell in ((token, written(token)) for token in tags.odd)
    )
    broken = faults(tags, scheme) if scheme and not options.repair else []
    # A tag beside something that is not a tag is not blamed.
    neighbours = {token + step for token in (*tags.odd, *spoilt) for step in (-1, 0, 1)}
    remedy = _repair_remedy(tags, scheme, schemes) if scheme and broken else ""
    problems += (Problem(*place(token), finding, remedy) for token, finding in broken if token not in neighbours)
    return problems


def _repair_remedy(tags: Tags, scheme: Scheme, schemes: Iterable[Scheme]) -> str:
    """Return the remedy for tags that break a scheme: a scheme that they fit, else the repairs that keep chunks.

    Dropping malformed chunks is a remedy where it leaves at least half of them.
    """
    if fitting := next((other.name for other in schemes if not tags.counts[~other.legal.ravel()].any()), None):
        return f"mend it, or, as the tags fit {fitting}, name that scheme: --scheme {fitting}"
    chunks, sound_chunks = decode(tags, scheme, "conlleval"), decode(tags, scheme, "discard")
    repairs = [CONLLEVAL_REMEDY, *([DISCARD_REMEDY] if 2 * len(sound_chunks.start) >= len(chunks.start) else [])]
    return f"mend it, or read it with {' or '.join(repairs)}"


@dataclass(frozen=True, eq=False)
class Chunks:
    """Decoded spans: first token, token after the last, type (index into the tags' `names`); in order.

    `first` and `last` are the places of their first and last tokens among those of the tags. `mended` counts the
    malformed chunks that were kept by conlleval's table or discarded.
    """

    start: Int64
    end: Int64
    type: NDArray[np.int32]
    first: Int64
    last: Int64
    mended: int = 0


class Fault(NamedTuple):
    """A tag that breaks a scheme: the token and what is wrong."""

    token: int
    finding: str


class Detection(NamedTuple):
    """The scheme that fits best and how often it is broken; `rivals` fit too but decode differently from `parting` on.

    The scheme is None where no tag but `O` occurs.
    """

    scheme: Scheme | None
    broken: int
    rivals: tuple[str, ...] = ()
    parting: int = -1


def detect(tags: Tags, schemes: Iterable[Scheme] = tuple(SCHEMES.values())) -> Detection:
    """Return the scheme under which all sentences are legal, or else the one broken least often."""
    if not len(tags.tokens):
        return Detection(None, 0)
    scheme_of_name = {scheme.name: scheme for scheme in schemes}
    broken = {name: int(tags.counts[~scheme.legal.ravel()].sum()) for name, scheme in scheme_of_name.items()}
    least = min(broken.values())
    fitting = [scheme_of_name[name] for name, count in broken.items() if count == least]
    best = fitting[0]
    if least:
        return Detection(best, least)
    met = tags.counts > 0
    for other in fitting[1:]:
        # Chunks are parted alike where every transition that occurs is.
        if np.array_equal(best.parts.ravel()[met], other.parts.ravel()[met]):
            continue
        parting = _parting(decode(tags, best), decode(tags, other))
        if parting is not None:
            return Detection(best, 0, tuple(scheme.name for scheme in fitting), parting)
    return Detection(best, 0)


def _parting(chunks: Chunks, rival: Chunks) -> int | None:
    """Return the first token where two decodings differ."""
    bounds, rival_bounds = (
        set(zip(side.start.tolist(), side.end.tolist(), side.type.tolist(), strict=True)) for side in (chunks, rival)
    )
    return min((start for start, _, _ in bounds ^ rival_bounds), default=None)


def faults(tags: Tags, scheme: Scheme) -> list[Fault]:
    """Return each tag that breaks the scheme, in order."""
    findings: dict[int, str] = {}
    for before, after in _illegal(tags, scheme):
        for token, neighbour, edge, word in (
            (before, after, "at the end of a sentence", "before"),
            (after, before, "at the start of a sentence", "after"),
        ):
            tag = tags.tag(token) if token >= 0 else "O"
            letter = LETTERS.index(tag[0])
            if tag[0] not in scheme.letters:
                letters_known = ", ".join(scheme.letters)
                findings[token] = f"{quoted(tag)} is not a tag of {scheme.name}, whose letters are {letters_known}"
            elif not (scheme.legal[0, letter, 0] if word == "before" else scheme.legal[0, 0, letter]) and letter:
                where = edge if neighbour < 0 else f"{word} {quoted(tags.tag(neighbour))}"
                findings.setdefault(token, f"{quoted(tag)} {where} is not legal in {scheme.name}")
    return [Fault(token, findings[token]) for token in sorted(findings)]


def _illegal(tags: Tags, scheme: Scheme) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each illegal transition, in order; -1 stands for the edge of a sentence."""
    table = ~scheme.legal.ravel()
    out = ~tags.follows[1:]
    into = np.flatnonzero(table.take(tags.entries))
    outof = np.flatnonzero(table.take(tags.exits) & out)
    for gap in np.sort(np.concatenate((2 * into, 2 * outof + 1))).tolist():
        token = int(tags.tokens[gap // 2])
        if gap % 2:
            yield token, -1 if tags.begins[token + 1] else token + 1
        else:
            yield -1 if tags.begins[token] else token - 1, token


def decode(tags: Tags, scheme: Scheme, repair: Repair | None = None) -> Chunks:
    """Return the chunks of tags that are legal in the scheme, or mended: see `faults` first.

    With "conlleval" malformed chunks are cut by that program's table (an orphan I begins a chunk); with "discard" they
    are dropped. Malformed is a chunk that begins or ends with a letter that cannot, or holds a foreign letter.
    """
    legal = scheme.legal.ravel()
    sound = not tags.counts[~legal].any()
    assert sound or repair, "malformed tags are refused or repaired"
    parts = (scheme.parts if sound else CONLLEVAL).ravel()
    first = np.flatnonzero(parts.take(tags.entries))
    last = np.flatnonzero(tags.after(parts))
    n_mended = 0
    if not sound:
        illegal_entry, illegal_exit = ~legal.take(tags.entries), ~tags.after(legal)
        # A transition is blamed on the chunk whose letter could not stand there next to O either.
        is_malformed = illegal_entry[first] & ~scheme.legal[0, 0, tags.letters[first]]
        is_malformed |= illegal_exit[last] & ~scheme.legal[0, tags.letters[last], 0]
        n_illegal: Int64 = np.concatenate((np.zeros(1, np.int64), np.cumsum(illegal_entry)))
        is_malformed |= n_illegal[last + 1] > n_illegal[first + 1]
        n_mended = int(is_malformed.sum())
        if repair == "discard":
            first, last = first[~is_malformed], last[~is_malformed]
    return Chunks(tags.tokens[first], tags.tokens[last] + 1, tags.types[first], first, last, n_mended)
