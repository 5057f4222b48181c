"""The published scorers, number for number: one module per scorer, found by listing this folder.

A module of a scorer has `CONVENTIONS`, a tuple with one `Convention` for each version. Modules without it are shared by
these.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    ScorerInput,
    ScorerOption,
    option_values,
    refuse_unplaced,
)
from nereval_core.conventions.outcome import Outcome
from nereval_core.problems import FormatError, quoted
from nereval_core.readers.recognition import likely_format

__all__ = [
    "Convention",
    "LayerPair",
    "Outcome",
    "ScorerInput",
    "ScorerOption",
    "apply",
    "apply_to_layers",
    "conventions",
    "find_convention",
    "option_values",
]


@cache
def conventions() -> Mapping[str, Convention]:
    """Return the conventions by name."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    listed = [convention for module in modules for convention in getattr(module, "CONVENTIONS", ())]
    return MappingProxyType({convention.name: convention for convention in listed})


def find_convention(name: str) -> Convention:
    """Return the convention of this name.

    Raises:
        FormatError: there is none.
    """
    convention = conventions().get(name)
    if convention is None:
        remedy = f"choose one of {', '.join(conventions())}"
        raise FormatError.single("--convention", None, f"no convention {quoted(name)}", remedy)
    return convention


def apply(convention: Convention, files: ScorerInput, options: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
    """Score by a convention: files of the scorer's own format as it reads them, others by the layers they hold.

    Where one of the two sides is in another format or in several parts, or where documents are chosen or types called
    otherwise, both are scored by their layers.

    Raises:
        FormatError: options it does not have, input that cannot be read, data it cannot have.
    """
    values = option_values(convention, options)
    if files.gold.parts or files.pred.parts or files.selection:
        return apply_to_layers(convention, files.read(), options)
    if convention.takes_layers and convention.formats:
        sides = ((files.gold, files.gold_format), (files.pred, files.pred_format))
        formats = {likely_format(source) if format == "auto" else format for source, format in sides}
        if formats - {None, *convention.formats}:
            layers = files.read()
            return convention.of_layers(layers.gold, layers.pred, values, layers.marks)
    return convention.score(files, values)


def apply_to_layers(
    convention: Convention, layers: LayerPair, options: Mapping[str, Any] = MappingProxyType({})
) -> Outcome:
    """Score layers by a convention.

    Raises:
        FormatError: options it does not have, a scorer that takes its own files only or looks at words that are not
            there, data it cannot have.
    """
    values = option_values(convention, options)
    refuse_unplaced(layers.pred)
    finding = ""
    if not convention.takes_layers:
        finding = "it scores files of its own format only"
    elif convention.words and layers.gold.documents.sizes is not None:
        finding = "it looks at words, and there are no texts"
    if finding:
        raise FormatError.single(convention.name, None, finding, f"it needs {convention.needs}")
    return convention.of_layers(layers.gold, layers.pred, values, layers.marks)
