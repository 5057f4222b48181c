"""Workbooks made by hand, part by part, as ECMA-376 has them: what programs of sheets write, and what none does."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def rows_xml(*rows: str, more: str = "") -> str:
    """Return the XML of a sheet; a row is its cells, or a whole `<row>`."""
    whole = "".join(row if row.startswith("<row") else f"<row>{row}</row>" for row in rows)
    return f'<worksheet xmlns="{MAIN}"><sheetData>{whole}</sheetData>{more}</worksheet>'


def words(*cells: str) -> str:
    """Return the cells of a row as strings in the cells themselves."""
    return "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells)


def workbook(
    sheets: Mapping[str, str | bytes],
    *,
    strings: str = "",
    styles: str = "",
    properties: str = "",
    hidden: tuple[str, ...] = (),
    others: Mapping[str, str] | None = None,
) -> bytes:
    """Return a workbook of sheets by name; `strings` are the `<si>` of its shared texts."""
    names = list(enumerate(sheets, 1))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": "<Relationships/>",
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{properties}<sheets>'
        + "".join(
            f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"{" state=" * (name in hidden)}'
            + ('"hidden"' if name in hidden else "")
            + "/>"
            for number, name in names
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">'
        + "".join(
            f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number, _ in names
        )
        + f'<Relationship Id="s" Type="{RELATIONS}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
        + f'<Relationship Id="t" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        **{f"xl/worksheets/sheet{number}.xml": sheets[name] for number, name in names},
    }
    if strings:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
    if styles:
        parts["xl/styles.xml"] = f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**parts, **(others or {})}.items():
            archive.writestr(name, content)
    return buffer.getvalue()
