"""Tables as files: Markdown, LaTeX, HTML, CSV, Parquet; each form is escaped here."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from nereval_core.problems import capitalised, one_line
from nereval_core.tables import DAGGER, Cell, Table
from nereval_core.writers import escape_formula

LATEX: Mapping[str, str] = MappingProxyType({DAGGER: r"$^\dagger$", "≤": r"$\leq$", "−": "$-$"})
"""LaTeX for our characters that pdfLaTeX does not know."""
_LATEX_MARKUP = str.maketrans(
    {
        **{char: f"\\{char}" for char in "#$%&_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\char34{}",
        **LATEX,
    }
)


def as_markdown(tables: Iterable[Table]) -> str:
    """Return tables of GitHub's Markdown under headings."""
    blocks = []
    for table in tables:
        rows = [list(table.headings), ["---" if column.is_left else "---:" for column in table.columns]]
        rows += _bold_texts("**{}**", table, escape_markdown)
        lines = [f"## {escape_markdown(table.title)}", "", *(f"| {' | '.join(row)} |" for row in rows)]
        lines += [line for note in _notes(table) for line in ("", escape_markdown(note))]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def as_latex(tables: Iterable[Table]) -> str:
    """Return tables with rules of booktabs, preceded by titles and signatures as comments."""
    blocks = []
    for table in tables:
        rows = _bold_texts(r"\textbf{{{}}}", table, escape_latex)
        lines = [
            *(f"% {one_line(note)}" for note in (table.title, *_notes(table))),
            rf"\begin{{tabular}}{{{''.join('l' if column.is_left else 'r' for column in table.columns)}}}",
            r"\toprule",
            *_latex_headings(table),
            r"\midrule",
            # At the start of a row LaTeX would read `[` and `*` as an option of the end of the row before.
            *(re.sub(r"^(?= *[\[*])", "{}", " & ".join(row)) + r" \\" for row in rows[: len(rows) - table.averages]),
            *([r"\midrule"] if 0 < table.averages < len(rows) else []),
            *(f"{' & '.join(row)} \\\\" for row in rows[len(rows) - table.averages :]),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        blocks.append("\n".join(lines) + "\n")
    return "% needs \\usepackage{booktabs}\n" + "\n".join(blocks)


def _latex_headings(table: Table) -> Iterable[str]:
    """Yield the row of columns, below the row of their groups with rules between where there are groups."""
    names = list(table.headings)
    heads, lines, start = [], [], 0
    for heading, width in table.groups:
        end = start + width
        if heading:
            heads.append(rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(heading)}}}")
            lines.append(rf"\cmidrule(lr){{{start + 1}-{end}}}")
            names[start:end] = [name.removeprefix(f"{heading} ") for name in names[start:end]]
        else:
            heads += [""] * width
        start = end
    if heads:
        yield rf"{' & '.join([*heads, *[''] * (len(names) - start)])} \\"
        yield " ".join(lines)
    yield rf"{' & '.join(map(escape_latex, names))} \\"


_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>nereval: {title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid #8888; padding: .2rem .6rem; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child, .text {{ text-align: left; }}
.note {{ font-size: .8rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>{heading}</h1>
{body}</body>
</html>
""")
_TABLE = Markup("<h2>{title}</h2>\n<div class='table'>{table}</div>\n{notes}")
_GRID = Markup("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>")


_STRONG = Markup("<strong>{}</strong>")


def as_html(tables: Iterable[Table], *, title: str = "scores", figure: str = "") -> str:
    """Return a page that fetches nothing and has no script except that of a figure.

    `figure` is HTML from `figures.embedded`, put above the tables unescaped.
    """
    body = Markup(figure) + Markup().join(
        _TABLE.format(
            title=one_line(table.title),
            table=html_grid(table),
            notes=_each("<p class='note'>{}</p>\n", html_notes(table)),
        )
        for table in tables
    )
    return str(_PAGE.format(title=title, heading=capitalised(title), body=body))


def html_grid(table: Table, fills: Mapping[tuple[int, int], str] = MappingProxyType({})) -> Markup:
    """Return headings and rows of a table as an element; its style is up to the page around it.

    `fills` are the backgrounds of cells, by row and column.
    """
    rows = (
        _html_cells("<td{}>{}</td>", table, row, {at: fill for (of_row, at), fill in fills.items() if of_row == number})
        for number, row in enumerate(_bold_texts(_STRONG, table, str))
    )
    head = _html_cells("<th scope='col'{}>{}</th>", table, table.headings)
    return _GRID.format(head=head, rows=_each("<tr>{}</tr>\n", rows))


def html_notes(table: Table) -> tuple[str, ...]:
    """Return the notes below a table, each on one line."""
    return tuple(map(one_line, _notes(table)))


def _html_cells(
    pattern: str, table: Table, texts: Iterable[str], fills: Mapping[int, str] = MappingProxyType({})
) -> Markup:
    """Return the cells of a row; those of texts beyond the first column have a class."""
    attributes = (
        Markup(" class='text'" if number and column.is_left else "")
        + (Markup(" style='background:{}'").format(fills[number]) if number in fills else "")
        for number, column in enumerate(table.columns)
    )
    return Markup().join(Markup(pattern).format(*cell) for cell in zip(attributes, texts, strict=True))


def as_csv(table: Table) -> str:
    """Return comma-separated values, ratios in full and undefined ones empty; no cell can be taken for a formula.

    Lines end in CR LF as RFC 4180 has it, by which a lone CR in a text is quoted too.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(table.keys)
    # Asked here already, most cells are spared the call: a third of the time.
    writer.writerows(
        [escape_formula(cell) if isinstance(cell, str) and not cell[:1].isalnum() else cell for cell in row]
        for row in table.rows
    )
    return file.getvalue()


RENDERED: Mapping[str, Callable[[Sequence[Table]], str]] = MappingProxyType(
    {"markdown": as_markdown, "latex": as_latex, "html": as_html}
)


def as_parquet(table: Table) -> bytes:
    """Return a table as Parquet: columns of integers (64 bits) or floats, and of texts for anything else."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = [one_type([row[at] for row in table.rows]) for at in range(len(table.columns))]
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(columns, names=list(table.keys)), file, compression="zstd")
    return file.getvalue()


def one_type(values: Sequence[Cell]) -> Any:
    """Return a column as an array of integers, floats or texts; None becomes null."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        try:
            return pa.array(values, pa.int64() if kinds == {int} else pa.float64())
        except (pa.ArrowInvalid, OverflowError):
            pass
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def in_form(
    form: str,
    tables: Sequence[Table],
    long: Callable[[], Table],
    own: Mapping[str, Callable[[], bytes]] = MappingProxyType({}),
) -> bytes:
    """Return tables as the bytes of a file; `long` makes the single table of CSV and Parquet.

    `own` makes other forms by name, such as a figure.
    """
    if form in own:
        return own[form]()
    if form == "excel":
        from nereval_core.tables.excel import as_excel

        return as_excel(tables)
    if form in RENDERED:
        return RENDERED[form](tables).encode()
    return as_parquet(long()) if form == "parquet" else as_csv(long()).encode()


def _bold_texts(pattern: str, table: Table, escape: Callable[[str], str]) -> list[list[str]]:
    """Return the cells as escaped texts by row, in the pattern where they are strong."""
    return [
        [
            pattern.format(escape(text)) if (number, place) in table.strong else escape(text)
            for place, text in enumerate(row)
        ]
        for number, row in enumerate(table.texts())
    ]


def _notes(table: Table) -> tuple[str, ...]:
    return (*table.strong_notes, *table.footnotes)


def _each(pattern: str, values: Iterable[str]) -> Markup:
    return Markup().join(Markup(pattern).format(value) for value in values)


def escape_latex(text: str) -> str:
    """Return text with what LaTeX would read as markup replaced by commands."""
    return one_line(text).translate(_LATEX_MARKUP)


def escape_markdown(text: str) -> str:
    """Return text with escapes for what Markdown would read as markup."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]#|~" else char for char in one_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")
