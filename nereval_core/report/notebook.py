"""Tables and texts as HTML for notebooks, legible in light and dark themes; no script, and all text is escaped.

The theme is that of the notebook where it says so (JupyterLab and pages of nbconvert, VS Code, Colab), else that of the
browser. Ink and paper are set with it, so that a wrong guess is legible too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from markupsafe import Markup

from nereval_core.problems import one_line
from nereval_core.report.colours import LOOKS, PAGE
from nereval_core.tables import Table
from nereval_core.tables.rendering import html_grid, html_notes

_INK = ("#1f2430", "#f1efe9")
_HOSTS = {
    "light": (
        "[data-jp-theme-light=true]",
        "body.vscode-light",
        "body.vscode-high-contrast-light",
        "html[theme=light]",
    ),
    "dark": (
        *("[data-jp-theme-light=false]", "body.vscode-dark", "html[theme=dark]"),
        "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    ),
}
"""The elements by which notebooks tell their theme."""
STYLE = Markup(
    "<style>"
    ".nvn{{color-scheme:light dark;color:var(--jp-content-font-color1,var(--vscode-foreground,light-dark({ink})));"
    "background:var(--jp-layout-color0,var(--vscode-editor-background,light-dark({paper})));"
    "font:14px/1.5 system-ui,sans-serif;padding:.25em 0;text-align:start}}"
    "{hosts}"
    ".nvn-table{{overflow-x:auto}}"
    ".nvn table{{border-collapse:collapse;margin:.25em 0;font-size:inherit;font-variant-numeric:tabular-nums;"
    "table-layout:auto;width:auto;color:inherit;border:0}}"
    ".nvn th,.nvn td{{padding:.2em .7em;text-align:right;white-space:nowrap;max-width:none;color:inherit;border:0;"
    "border-bottom:1px solid #8886;background:none;font-weight:400;line-height:1.5}}"
    ".nvn th{{font-weight:600;vertical-align:bottom}}"
    ".nvn th:first-child,.nvn td:first-child,.nvn th.text,.nvn td.text{{text-align:start}}"
    ".nvn tbody tr,.nvn tbody tr:nth-child(n):hover{{background:none}}"
    ".nvn-title{{font-weight:600}}"
    ".nvn-note{{opacity:.75;font-size:.86em;overflow-wrap:anywhere}}"
    ".nvn summary{{cursor:pointer;width:fit-content}}"
    ".nvn-chip{{display:inline-block;border-radius:.3em;padding:0 .45em;margin-inline-end:.5em;font-weight:600;"
    "font-size:.86em}}"
    ".nvn-card{{border:1px solid #8886;border-radius:.4em;padding:.5em .8em;margin:.5em 0}}"
    ".nvn a{{color:light-dark(#00558a,#7cc4f5)}}"
    "</style>"
).format(
    ink=Markup(", ").join(_INK),
    paper=Markup(", ").join((PAGE[0][0], PAGE[1][0])),
    hosts=Markup("").join(
        Markup(f"{','.join(f'{host} .nvn' for host in hosts)}{{color-scheme:{scheme}}}")
        for scheme, hosts in _HOSTS.items()
    ),
)


def in_notebook(*parts: Markup) -> str:
    """Return the parts of a result as what `_repr_html_` gives a notebook, which sets no mathematics in texts."""
    return str(
        Markup('{}<div class="nvn tex2jax_ignore mathjax_ignore">{}</div>').format(STYLE, Markup("").join(parts))
    )


def table_html(table: Table, *, fills: Mapping[tuple[int, int], str] = MappingProxyType({})) -> Markup:
    """Return a table with its title above and its notes folded below; `fills` as in `html_grid`."""
    title = Markup('<div class="nvn-title">{}</div>').format(one_line(table.title)) if table.title else Markup()
    grid = Markup('<div class="nvn-table">{}</div>').format(html_grid(table, fills))
    return title + grid + folded("notes", html_notes(table))


def folded(name: str, lines: Iterable[str]) -> Markup:
    """Return lines that unfold; nothing where there are none."""
    notes = Markup("").join(map(note, lines))
    return Markup("<details><summary>{}</summary>{}</details>").format(name, notes) if notes else Markup()


def note(text: str) -> Markup:
    """Return a line below or above a result."""
    return Markup('<div class="nvn-note">{}</div>').format(one_line(text))


def legend(decisions: Iterable[str]) -> Markup:
    """Return the decisions in their colours, and the sides of the text."""
    chips = Markup("").join(
        Markup('<span class="nvn-chip" style="color:{};background:{}">{}</span>').format(
            *("light-dark({}, {})".format(*pair) for pair in (LOOKS[code].colour.ink, LOOKS[code].colour.fill)),
            f"{LOOKS[code].glyph} {LOOKS[code].label}",
        )
        for code in decisions
    )
    return Markup("<div>{}</div>{}").format(chips, note("Gold is above the text, the prediction below it."))


def card(heading: str, facts: Iterable[str], text: Markup) -> Markup:
    """Return a record or a document in a frame: its heading, facts about it, and its text."""
    return Markup('<div class="nvn-card"><div class="nvn-title">{}</div>{}{}</div>').format(
        one_line(heading), note(" · ".join(facts)), text
    )
