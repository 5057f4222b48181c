"""The verbs `link` and `index` of the library: concept ids on mentions, and of whole documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Unpack

from nereval_core import readers
from nereval_core.analysis.linking import LinkScores, Truth, judge_links
from nereval_core.analysis.linking.indexing import IndexScores, index_layer, score_index
from nereval_core.analysis.linking.mentions import Boundaries, Mentions, align_links
from nereval_core.api.inputs import Annotations, load_inputs
from nereval_core.api.load import Input, Loaded, source_of
from nereval_core.api.scoring import Listener, PythonWarnings, tell_notices, tell_unused
from nereval_core.api.verb_options import IndexOptions, LinkOptions
from nereval_core.corpus import Documents, Layer
from nereval_core.pairing import Pairing
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.shared.concepts import Index, read_index, read_mapping
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules

TSV = "tsv"
"""The name of the format of a file of codes."""
LINKS_REMEDY = "give gold with links: a NEL column (hipe), N lines or codes as notes (brat), links (jsonl)"
INDEX_REMEDY = "give gold with ids: lines document<tab>code (tsv), or spans with links"
SPANNED = ("jsonl", "brat", "bionlp", "hipe")
"""Formats whose spans may have links."""

Relaxed = Mapping[str, str] | Source | str | os.PathLike[str]


def link(
    gold: Annotations,
    pred: Annotations,
    *,
    boundaries: Boundaries = "strict",
    mentions: Mentions = "end-to-end",
    n: int = 1,
    truth: Truth = "first",
    relaxed: Relaxed | None = None,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> LinkScores:
    """Score the concept ids of mentions: spans with links, each side a path, a `Reading` or a layer.

    The first `n` ids of a prediction's ranking count. `truth` says which of gold's links are correct: "first" or "any".
    With `mentions="gold"` linking is judged alone, over mentions of equal boundaries. `relaxed` maps an id to the one
    it counts as, or names a file of lines `id<tab>id`. `nereval_core.analysis.linking` defines the decisions.

    Raises:
        FormatError: unreadable input, or input that cannot be paired; gold without links; `mentions="gold"` with
            overlapping boundaries.
    """
    options = LinkOptions(n=(n,), boundaries=(boundaries,), mentions=mentions, truth=truth)
    loaded = load_inputs(gold, {"": pred}, format=format, pairing=pairing)
    listener = PythonWarnings()
    tell_notices(loaded.corpus.gold, loaded.named_layers(), listener)
    ((scores,),) = run(options, loaded, _mapping(relaxed), listener).values()
    return scores


def run(
    options: LinkOptions, loaded: Loaded, relaxed: Mapping[str, str], listener: Listener
) -> dict[str, tuple[LinkScores, ...]]:
    """Score the links of each system of a corpus under each rule of boundaries and number of ranks.

    Raises:
        FormatError: no gold span has a link.
    """
    if not loaded.corpus.gold.links:
        raise FormatError.single(loaded.gold.source or "gold", None, "no span has a link", LINKS_REMEDY)
    for name, layer in loaded.named_layers().items():
        if not layer.links:
            listener.warn(f"{name}: no span has a link, so every gold mention counts as missing")
    rules = TypeRules({}, tuple(sorted(set(options.leave_out))))
    tell_unused(Settings(leave_out=rules.leave_out), loaded.types, listener)
    gold = apply_rules(loaded.corpus.gold, rules)
    scores = {}
    for name, layer in loaded.named_layers().items():
        pred = apply_rules(layer, rules)
        alignments = [align_links(gold, pred, boundaries=rule, mentions=options.mentions) for rule in options.rules]
        scores[name] = tuple(
            judge_links(alignment, n=n, truth=options.truth, relaxed=relaxed)
            for alignment in alignments
            for n in options.n
        )
    return scores


def index(
    gold: Index | Annotations,
    pred: Index | Annotations,
    *,
    links: Truth = "first",
    relaxed: Relaxed | None = None,
    format: str = "auto",
) -> IndexScores:
    """Score the sets of concept ids of documents: files of codes, or the links of annotations.

    `links` says which links of a mention count for its document, "first" or "any"; `relaxed` is as for `link`. See
    `nereval_core.analysis.linking.indexing`.

    Raises:
        FormatError: unreadable input; gold without ids; links that are neither "first" nor "any".
    """
    options = IndexOptions(links=links)
    sides = []
    for side in (gold, pred):
        if isinstance(side, Index):
            sides.append(side)
        elif isinstance(side, Reading | Layer):
            sides.append(index_layer(side.layer if isinstance(side, Reading) else side, links=options.links))
        else:
            sides.append(load_index(side, format=format, links=options.links)[0])
    check_index(sides[0])
    return score_index(*sides, relaxed=_mapping(relaxed))


def check_index(gold: Index) -> None:
    """Refuse gold without a single id, against which nothing can be scored.

    Raises:
        FormatError: there is none.
    """
    if not any(gold.documents.values()):
        raise FormatError.single(gold.name or "gold", None, "no document has an id", INDEX_REMEDY)


def load_index(
    place: Input, *, format: str = "auto", links: Truth = "first", texts: Documents | None = None
) -> tuple[Index, Reading | None]:
    """Read codes of documents from a TSV (format `tsv`), or the links of annotations in any format.

    By itself a TSV without HIPE's header is taken for codes. `texts` are the documents of annotations without text.

    Raises:
        FormatError: unreadable input.
    """
    source = source_of(place)
    if format == TSV or (format == "auto" and _holds_codes(source)):
        return read_index(source), None
    reading = readers.read(source, format=format, options=ReadOptions(texts=texts))
    codes = index_layer(reading.layer, links=links)
    return Index(codes.name, codes.documents, (*reading.notes, *codes.notes)), reading


def _holds_codes(source: Source) -> bool:
    claims = {name: readers.reader(name).recognise(source) for name in SPANNED}
    tsv = any(file.suffix == ".tsv" for file in source.files)
    return claims["hipe"] < 1 if tsv else max(claims.values()) < 1


def _mapping(relaxed: Relaxed | None) -> Mapping[str, str]:
    if relaxed is None or isinstance(relaxed, Mapping):
        return relaxed or {}
    return read_mapping(relaxed)
