"""A layer as one download, whatever files its format has."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem
from nereval_core.writers import write, writers

STAMP = (1980, 1, 1, 0, 0, 0)
"""The time of the files in a zip: without their own, the same layer is the same bytes."""


def packed(layer: Layer, format: str, name: str, *, lossy: bool = False) -> tuple[str, bytes, tuple[str, ...]]:
    """Return a layer as a download: its file name, its bytes, and the writer's notes; several files come as a zip.

    Raises:
        FormatError: the format cannot hold the layer, and this may not be `lossy`.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"{name}{getattr(writers()[format], 'SHARD', f'.{format}')}"
        try:
            notes = write(layer, place, format=format, lossy=lossy)
        except FormatError as error:
            # What is wrong is the layer's: a place of ours would say nothing.
            raise FormatError(
                Problem(name if one.source == os.fspath(place) else one.source, one.line, one.found, one.remedy)
                for one in error.problems
            ) from None
        top = place if place.is_dir() else Path(folder)
        files = sorted(path for path in top.rglob("*") if path.is_file())
        if files == [place]:
            return place.name, place.read_bytes(), notes
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(top).as_posix(), STAMP)
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        return f"{name}.zip", file.getvalue(), notes
