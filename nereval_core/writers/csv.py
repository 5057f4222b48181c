"""CSV or TSV (names in .tsv): one row per span, the text of each document in its first row."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.csv import LINKS, READER
from nereval_core.readers.input.compression import unpacked_name
from nereval_core.writers import escape_formula, packed_file
from nereval_core.writers.document_spans import spans_with_offsets
from nereval_core.writers.writer import Writer

HEADER = ("document", "start", "end", "label", "quote", "text", "span_id", "links", "score")


class CsvWriter(Writer):
    """A row for each span, and one for each document without any; offsets are code points, end exclusive.

    The text of a document stands in its first row. Cells that a spreadsheet would run as formulas are counted; the
    writer that `escapes` them puts an apostrophe in front.
    """

    name, description = READER.name, READER.description
    holds = frozenset(("ids", "links", "rankings", "scores"))
    shard = ".csv"

    def __init__(self, *, escapes: bool = False) -> None:
        self.escapes = escapes

    def escaping_formulas(self) -> Writer:
        return CsvWriter(escapes=True)

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        parted = sorted({link for links in layer.links.values() for link in links if LINKS in link})
        if parted:
            remedy = "rename it, or write jsonl"
            raise FormatError(
                Problem(os.fspath(path), None, f"the link {quoted(parted_link)} has a semicolon", remedy)
                for parted_link in parted
            )
        documents = layer.documents
        live = 0

        def cells(row: Sequence[str | float]) -> list[str | float]:
            nonlocal live
            safe_cells = [escape_formula(cell) if isinstance(cell, str) else cell for cell in row]
            live += sum(cell != safe for cell, safe in zip(row, safe_cells, strict=True))
            return safe_cells if self.escapes else list(row)

        delimiter = "\t" if unpacked_name(path.name).lower().endswith((".tsv", ".tab")) else ","
        with packed_file(path) as file:
            out = io.StringIO(newline="")
            table = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
            table.writerow(HEADER)
            for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
                first = text
                for span, start, end in spans_with_offsets(layer, number):
                    beside = (
                        layer.ids.get(span, ""),
                        LINKS.join(layer.links.get(span, ())),
                        layer.scores.get(span, ""),
                    )
                    table.writerow(cells((name, start, end, layer.label(span), layer.text(span), first, *beside)))
                    first = ""
                if layer.first[number] == layer.first[number + 1]:
                    table.writerow(cells((name, "", "", "", "", text, "", "", "")))
                file.write(out.getvalue().encode())
                out.seek(0)
                out.truncate()
            file.write(out.getvalue().encode())
        if not live:
            return ()
        what = "cells that a spreadsheet would run as formulas"
        if self.escapes:
            return (f"{what}, with an apostrophe in front, which is read as text: {live}",)
        return (f"{what}: {live}; --escape-formulas puts an apostrophe in front",)


WRITERS = (CsvWriter(),)
