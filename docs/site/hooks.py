"""Hooks of MkDocs: pages made of files outside this folder, of parsers and of docstrings."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from library_reference import anchors, reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from nereval_core.cli import GROUPS, VERBS, verb_parser
from nereval_core.report.references import works

ROOT = Path(__file__).parents[2]
WORKS = "nereval_core/report/references.bib"
PAGES = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", WORKS: "references.md"}
"""Files outside this folder, and their pages."""
COMMAND_LINE, LIBRARY = "command-line.md", "library.md"
OPTIONS, REFERENCE = "options.md", "library-reference.md"
SECTIONS = {
    "nereval_core/cli/verbs": OPTIONS,
    **{f"{module.replace('.', '/')}.py": f"{OPTIONS}#{verb.replace(' ', '-')}" for verb, module in VERBS.items()},
    **{path: f"{REFERENCE}#{anchor}" for path, anchor in anchors().items()},
}
"""Source of the generated pages, to which documents link, and the place on a page that is made of it."""
PICTURES = "tests/screenshots"
STYLE = """\
.language-bash code { white-space: pre-wrap; overflow-wrap: anywhere }
.language-bash code > span[id] { display: block; padding-left: 2em; text-indent: -2em }
"""
"""Commands are shown whole, each with its further lines indented."""
STYLE = """\
.language-bash pre > code { white-space: pre-wrap; overflow-wrap: anywhere; }
.language-bash pre > code > span { display: block; padding-left: 2ch; text-indent: -2ch; }
"""
"""Commands stand on one line in the documents; the site breaks long ones, so that their last options are read."""
POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and pictures that lie elsewhere, the help of every verb and the reference."""
    for source, page in PAGES.items():
        content = _works_cited() if source == WORKS else (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    for picture in sorted((ROOT / PICTURES).glob("*.png")):
        files.append(File.generated(config, f"pictures/{picture.name}", abs_src_path=str(picture)))
    files.append(File.generated(config, "commands.css", content=STYLE))
    files.append(File.generated(config, "commands.css", content=STYLE))
    files.append(File.generated(config, OPTIONS, content=_options()))
    files.append(File.generated(config, REFERENCE, content=reference()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links of the repository to pages of the site; a link to a file that is not in it becomes its words."""
    place = page.file.src_uri
    source = next((path for path, name in PAGES.items() if name == place), f"docs/{place}")

    def target(match: re.Match[str]) -> str:
        words, path, fragment = match[1], match[2], match[3] or ""
        path = normpath(PurePosixPath(source).parent / path)
        if path in SECTIONS:
            return f"{words}({relpath(SECTIONS[path], PurePosixPath(place).parent)})"
        name = PAGES.get(path) or path.removeprefix("docs/").replace(PICTURES, "pictures")
        file = files.get_file_from_path(name)
        if (file is None or file.inclusion.is_excluded()) and (ROOT / path).exists():
            return f"`{path}`" if words[1:-1] == path else f"{words[1:-1]} (`{path}`)"
        if file is None:
            return match[0]
        return f"{words}({relpath(name, PurePosixPath(place).parent)}{fragment})"

    if place == COMMAND_LINE:
        markdown = re.sub("^## (.*)$", _with_options, markdown, flags=re.MULTILINE)
    if place == LIBRARY:
        markdown = re.sub(r"^\|.*\|$", _with_reference, markdown, flags=re.MULTILINE)
    fenced = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in fenced)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return _restrict(output)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    return _restrict(output_content) if template_name.endswith(".html") else output_content


def _with_options(heading: re.Match[str]) -> str:
    """Return the heading of a section on verbs with links to their options below it."""
    links = [f"[Options of `{verb}`]({OPTIONS}#{verb})" for verb in heading[1].split() if verb in VERBS]
    return "\n\n".join([heading[0], " · ".join(links)])


def _with_reference(row: re.Match[str]) -> str:
    """Return the row of a table with a link from each verb of the library to its entry."""
    return re.sub(r"`(\w+)`", rf"[`\1`]({REFERENCE}#\1)", row[0])


def _restrict(page: str) -> str:
    """Let browsers fetch nothing from other hosts, whatever the scripts of the theme would like to."""
    return page.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1)


def _works_cited() -> str:
    """Return a page with the works that the documents and the methods paragraph cite."""
    lines = [f"- {work.reference}" + (f" <{work.url}>" if work.url else "") for work in works().values()]
    return "\n".join(["# Works cited\n\nThis page is for people who look up a source.\n", *lines, ""])


def _options() -> str:
    """Return a page with the help of every verb; options that verbs share are listed at the first of them."""
    parts = ["# Options of each verb\n\nThis page is for people who look an option up; it is made from the parsers.\n"]
    verbs_with: dict[str, str] = {}
    for verb in (verb for group in GROUPS.values() for verb in group):
        parser = verb_parser(verb)
        notes = parser.epilog or ""
        usage, description, example, *groups = parser.format_help().removesuffix(notes).strip().split("\n\n")
        parts += [f"## {verb}\n", f"{description[:1].upper()}{description[1:]}.\n"]
        parts += [f"```text\n{usage.removeprefix('usage: ')}\n```\n", "For example:\n"]
        parts += [f"```bash\n{example.partition(chr(10))[2].strip()}\n```\n"]
        for group in groups:
            first = verbs_with.setdefault(group, verb)
            title, _, rows = group.partition(":\n")
            if first == verb or "\n" not in rows:
                parts += [f"**{title}**\n", "| option | meaning |\n|---|---|", *_option_rows(rows), ""]
            else:
                parts.append(f"**{title}**: the options of [{first}](#{first.replace(' ', '-')}).\n")
        parts += map(_note, notes.strip().split("\n\n"))
    return "\n".join(parts)


def _option_rows(rows: str) -> Iterator[str]:
    """Yield rows of a table from the help of a group of options, whose further lines are indented."""
    for row in re.split(r"^  (?=\S)", rows, flags=re.MULTILINE)[1:]:
        option, _, meaning = (re.sub(r"\s{2,}", "\n", row.strip(), count=1)).partition("\n")
        yield f"| <code>{_plain(option)}</code> | {_plain(' '.join(meaning.split()))} |"


def _note(paragraph: str) -> str:
    """Return a paragraph of the notes of a verb, as it stands where its lines are indented."""
    return f"```text\n{paragraph}\n```\n" if "\n  " in f"\n{paragraph}" else f"{_plain(paragraph)}\n"


def _plain(text: str) -> str:
    """Return text without signs of Markdown, but for backticks."""
    return re.sub(r"[|*_\[\]]", lambda sign: f"&#{ord(sign[0])};", html.escape(text, quote=False))
