"""A layer taken as gold: the corpus with it in gold's place and the former gold among the systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.errors import quoted
from pages.shared.loading import GOLD, Loaded, renumbered
from pages.shared.url import View


def following(loaded: Loaded, view: View) -> tuple[Loaded, View, tuple[str, ...]]:
    """Return the corpus with the view's layer in gold's place, the view, and in words what of it was dropped."""
    name = view.reference
    if not name:
        return loaded, view, ()
    if loaded.folder is not None:
        return loaded, replace(view, reference=""), ("a layer taken as gold: a scored folder has its own",)
    if name not in layers(loaded):
        wrong = f"reference: {quoted(name)} is not a layer of this corpus"
        return loaded, replace(view, reference=""), (wrong,)
    return taken(loaded, name), view, ()


def taken(loaded: Loaded, name: str) -> Loaded:
    """Return the corpus with a layer in gold's place, "" for gold as it was read."""
    read = as_read(loaded)
    return _taken(read.number, name, read) if name else read


def as_read(loaded: Loaded) -> Loaded:
    """Return the corpus with gold in its own place."""
    return loaded.origin or loaded


# Kept, as a number of its own tells each in the caches.
@st.cache_resource(max_entries=16, show_spinner=False)
def _taken(number: int, name: str, _read: Loaded) -> Loaded:
    return with_gold(_read, name)


def with_gold(read: Loaded, name: str) -> Loaded:
    """Return a corpus as read with a system's layer in gold's place; files, formats and marks move along.

    A published scorer that reads the files is told of one column for gold and one for systems: where the two differ,
    the former gold has no file any more.
    """
    corpus, former = read.corpus, former_gold(read)
    gold = corpus.system(name)
    systems = tuple(layer for layer in corpus.systems if layer is not gold)
    rows = {row.name: row for row in read.layers}
    order = {name: GOLD, GOLD: former}
    sources = {order.get(layer, layer): source for layer, source in read.sources.items()}
    options = read.options
    if options.gold_column != options.pred_column:
        sources.pop(former, None)
    said = f"taken as gold: {name}"
    marks = {layer.name: (said, *_told(read, name), *_told(read, layer.name)) for layer in systems}
    return replace(
        read,
        corpus=replace(corpus, gold=gold, systems=(*systems, corpus.gold.renamed(former))),
        layers=(
            replace(rows[name], name=GOLD, notes=(said, *rows[name].notes)),
            *(rows[layer.name] for layer in systems),
            replace(rows[GOLD], name=former),
        ),
        marks=marks | {former: (said, *_told(read, name))},
        start=former if read.start == name else read.start,
        sources=sources,
        options=replace(options, gold_format=options.pred_format, gold_column=options.pred_column),
        address=read.digest,
        origin=read,
        original=None if read.original is None else with_gold(read.original, name),
        reference=name,
        number=renumbered(),
    )


def _told(read: Loaded, name: str) -> tuple[str, ...]:
    return tuple(f"{name} as read: {mark}" for mark in read.marks[name])


def former_gold(read: Loaded) -> str:
    """Return what gold is called while another layer has its place: a name that no system has."""
    name = "original gold"
    while any(layer.name == name for layer in read.corpus.systems):
        name += " *"
    return name


def layers(loaded: Loaded) -> Mapping[str, Layer]:
    """Return the layers as read by name, gold first as "" whatever has its place."""
    read = as_read(loaded)
    return {"": read.corpus.gold} | {layer.name: layer for layer in read.corpus.systems}


def moved(view: View, loaded: Loaded, name: str) -> View:
    """Return the view with another layer taken as gold, "" for gold itself.

    A system that is now gold gives its place to the layer that was; a record of the former gold is given up.
    """
    former = former_gold(as_read(loaded))
    at = "" if view.system == former else view.system
    at = view.reference if at == name else at
    return replace(
        view,
        reference=name,
        system=at or former,
        beside="" if view.beside in (name, former) else view.beside,
        record="",
        doc="" if view.record else view.doc,
    )
