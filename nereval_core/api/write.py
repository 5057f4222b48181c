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

    What the format cannot hold is refused, or left out with `lossy=True`. Returns notes that count what was left out.

    Raises:
        FormatError: an unknown format, a path that cannot be written, or spans that the format cannot hold.
    """
    return writers.write(layer.layer if isinstance(layer, Reading) else layer, path, format=format, lossy=lossy)
