"""Published scorers over shards: those whose counts add up, see `nereval_core.conventions.shares`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from nereval_core.conventions import Convention, conventions, named
from nereval_core.conventions.shares import ByShares
from nereval_core.corpus import Layer
from nereval_core.engine.tally import Columns, Tally
from nereval_core.problems import FormatError

SPANS = "spans"
"""The table of how many spans were scored of `gold` and `pred`."""


def by_shares(convention: Convention, options: Mapping[str, Any]) -> ByShares:
    """Return how a convention is scored shard by shard.

    Raises:
        FormatError: it cannot be; the reason is named, and the conventions that can.
    """
    way = convention.by_shares
    why = way if isinstance(way, str) else way.lacks(options)
    if why is None:
        assert isinstance(way, ByShares)
        return way
    able = ", ".join(name for name, one in conventions().items() if isinstance(one.by_shares, ByShares))
    found = f"{convention.name} cannot be scored shard by shard: {why}"
    raise FormatError.single("--engine", None, found, f"leave --engine out; by shards go {able}")


def with_share(
    tally: Tally, columns: Columns, gold: Layer, pred: Layer, name: str, options: Mapping[str, Any]
) -> tuple[Tally, Columns]:
    """Return what a shard comes to with what a convention counts in it; digests are of what the convention scores.

    Raises:
        FormatError: data that the convention cannot have.
    """
    share = by_shares(named(name), options).counted(gold, pred, options)
    assert share.gold.hashes and share.pred.hashes, "what adds up has a digest of documents"
    spans = {"gold": (share.gold.spans,), "pred": (share.pred.spans,)}
    hashes = {"gold": share.gold.hashes(), "pred": share.pred.hashes()}
    return replace(tally, published={**share.tables, SPANS: spans}), MappingProxyType({**columns, **hashes})
