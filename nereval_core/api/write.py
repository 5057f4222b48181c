"""The verb `write` of the library: a layer with its documents as a file or folder."""

from __future__ import annotations

import os

from nereval_core import writers
from nereval_core.corpus import Layer
from nereval_core.readers import Reading


def write(
    layer: Layer | Reading, path: str | os.PathLike[str], *, format: str = "jsonl", lossy: bool = False
) -> tuple[str, ...]:
    """Write a layer with its documents, whole or not at all.

    What the format cannot hold is refused, or, if this may be `lossy`, left out; returns notes that count it.

    Raises:
        FormatError: unknown format, a place that cannot be written, or what the format cannot hold.
    """
    return writers.write(layer.layer if isinstance(layer, Reading) else layer, path, format=format, lossy=lossy)
