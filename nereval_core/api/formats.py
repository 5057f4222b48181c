"""The table of formats: which are read, which are written."""

from __future__ import annotations

from dataclasses import dataclass

from nereval_core.readers import readers
from nereval_core.writers import writers


@dataclass(frozen=True)
class Format:
    """A row of the table of formats."""

    name: str
    description: str
    reads: bool
    writes: bool


def formats() -> tuple[Format, ...]:
    """Return the table of formats, in the order of their names."""
    described = {name: writer.description for name, writer in writers().items()}
    described |= {name: reader.description for name, reader in readers().items()}
    return tuple(Format(name, described[name], name in readers(), name in writers()) for name in sorted(described))
