"""The reference of the library as Markdown, read from its source: verbs, results, types of arguments, definitions."""

from __future__ import annotations

import ast
import inspect
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import nereval_core
from nereval_core.tables import Column

ROOT = Path(__file__).parents[2]
PACKAGE = "nereval_core"
VERSION = "__version__"
COLUMNS = re.compile(r"\b[A-Z_]+_COLUMNS\b")
IMPORT = re.compile(r"^from (nereval_core\.(?!cli)[\w.]+) import (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\((?:\.\./)+(nereval_core/(?!cli/|__init__)[\w/]+?)(?:/__init__)?\.py\)")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
MEMBERS = (ast.AnnAssign, ast.FunctionDef)
PROPERTIES = {"property", "cached_property"}
INTRODUCTION = f"""\
# Reference of the library

This page is for people who look up a function, a result or a column; it is made from the docstrings.
`import nereval_core as nereval` gives all verbs; `nereval.{VERSION}` is the version. [Library](library.md) is the tour
with examples.
"""


class Definition(NamedTuple):
    """A function, class or assignment at the top of a module, with its docstring."""

    module: str
    name: str
    node: ast.stmt
    docstring: str


def reference() -> str:
    """Return the page: functions, classes of their results and arguments, and modules that define terms."""
    content = _content()
    links = {each.name: f"class-{each.name.lower()}" for each in (*content.results, *content.parts)}
    links |= {name: _anchor(name) for name in content.modules}
    lines = [INTRODUCTION]
    for title, functions in (("Verbs", content.verbs), ("Functions of modules", content.functions)):
        lines.append(f"## {title}\n")
        for each in functions:
            module = PACKAGE if title == "Verbs" else each.module
            code = f"from {module} import {each.name}\n\n{_call(each, content.aliases)}"
            lines += [f"### {each.name}()\n", f"```python\n{code}\n```\n", _prose(each.docstring, links)]
    for title, classes in (("Results", content.results), ("Parts of results, and arguments", content.parts)):
        lines.append(f"## {title}\n")
        for each in classes:
            members = _members(each, links, content.aliases)
            lines += [f"### class {each.name}\n", _prose(each.docstring, links), *members]
    others = sorted((name, value) for name, value in content.aliases.items() if not value.startswith("Literal"))
    lines += ["## Other types\n", *(f"- `{name} = {value}`" for name, value in others), "\n## Definitions\n"]
    for name in content.modules:
        lines += [f"### {name.removeprefix(PACKAGE + '.')}\n", _prose(_docstring(_tree(name)), links)]
    return "\n".join(lines)


def anchors() -> dict[str, str]:
    """Return the anchor on the page by the file, below the root, that an entry is made of."""
    content = _content()
    return {
        **{_path(name): _anchor(name) for name in content.modules},
        **{_path(each.module): each.name for each in reversed(content.verbs)},
        _path(PACKAGE): "verbs",
    }


class Content(NamedTuple):
    """The definitions on the page; `aliases` are types that are not classes, `modules` define terms."""

    verbs: list[Definition]
    functions: list[Definition]
    results: list[Definition]
    parts: list[Definition]
    aliases: dict[str, str]
    modules: list[str]


@cache
def _content() -> Content:
    """Return the verbs, all that documents import or link to beside them, and the types and modules that these name."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    verbs = [_definition(name, PACKAGE) for name in nereval_core.__all__ if name != VERSION]
    imported = {(module, name) for module, names in IMPORT.findall(texts) for name in names.split(", ")}
    others = [_definition(name, module) for module, name in sorted(imported) if not _is_module(f"{module}.{name}")]
    functions = [each for each in others if isinstance(each.node, ast.FunctionDef)]
    results, parts, aliases = _types([*verbs, *functions])
    linked = {path.replace("/", ".") for path in LINK.findall(texts)}
    linked |= {f"{module}.{name}" for module, name in imported if _is_module(f"{module}.{name}")}
    modules = _modules([*verbs, *functions, *results, *parts], linked - {each.module for each in verbs})
    return Content(verbs, functions, results, parts, aliases, modules)


def _path(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).relative_to(ROOT).as_posix()


def _anchor(module: str) -> str:
    return module.removeprefix(PACKAGE).replace(".", "")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse((ROOT / _path(module)).read_text(encoding="utf-8"))


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return ast.get_docstring(node) or ""


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, those below `if TYPE_CHECKING` too."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _statements(statement.body)


@cache
def _definition(name: str, module: str) -> Definition:
    """Return the definition of a name in a module, followed through imports.

    Raises:
        LookupError: the package does not define it.
    """
    statements = list(_statements(_tree(module).body)) if module.split(".")[0] == PACKAGE else []
    for number, statement in enumerate(statements):
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    return _definition(alias.name, statement.module)
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name == name:
            return Definition(module, name, statement, _docstring(statement))
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if name in {target.id for target in targets if isinstance(target, ast.Name)}:
                return Definition(module, name, statement, _text_below(statements, number))
    raise LookupError(name)


def _text_below(statements: list[ast.stmt], number: int) -> str:
    """Return the docstring of an assignment, the string below it."""
    match statements[number + 1 : number + 2]:
        case [ast.Expr(value=ast.Constant(value=str(text)))]:
            return inspect.cleandoc(text)
    return ""


def _types(functions: list[Definition]) -> tuple[list[Definition], list[Definition], dict[str, str]]:
    """Return the classes of results, those of their attributes and of arguments, and the types that are not classes."""
    results: dict[str, Definition] = {}
    parts: dict[str, Definition] = {}
    aliases: dict[str, str] = {}
    queue = deque((each, note, results) for each in functions for note in _annotations(each.node)[-1:])
    queue += [(each, note, parts) for each in functions for note in _annotations(each.node)[:-1]]
    while queue:
        user, annotation, classes = queue.popleft()
        for name in re.findall(r"\b[A-Z]\w+", annotation):
            with suppress(LookupError):
                definition = _definition(name, user.module)
                if isinstance(definition.node, ast.Assign) and name not in aliases:
                    aliases[name] = ast.unparse(definition.node.value)
                    queue.append((definition, aliases[name], classes))
                elif isinstance(definition.node, ast.ClassDef) and name not in results.keys() | parts.keys():
                    classes[name] = definition
                    if classes is results:
                        queue += [(each, _annotations(each.node)[-1], parts) for each in _public_members(definition)]
    return list(results.values()), sorted(parts.values(), key=lambda each: each.name), aliases


def _annotations(node: ast.stmt) -> list[str]:
    """Return the types of the arguments of a function and, last, that of its result; that of an attribute."""
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.annotation)]
    assert isinstance(node, ast.FunctionDef)
    parameters = [*node.args.args, *node.args.kwonlyargs, *filter(None, [node.args.kwarg])]
    notes = [each.annotation for each in parameters] + [node.returns]
    return [ast.unparse(note) for note in notes if note is not None]


def _public_members(owner: Definition) -> list[Definition]:
    """Return the attributes and methods of a class, then those that it inherits within the package."""
    assert isinstance(owner.node, ast.ClassDef)
    members: dict[str, Definition] = {}
    for number, node in enumerate(owner.node.body):
        if isinstance(node, MEMBERS):
            name = node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.target)
            text = _docstring(node) if isinstance(node, ast.FunctionDef) else _text_below(owner.node.body, number)
            if not name.startswith("_") and not any(re.search(r"\b_[A-Z]", note) for note in _annotations(node)):
                members[name] = Definition(owner.module, name, node, text)
    for base in owner.node.bases:
        try:
            inherited = _public_members(_definition(ast.unparse(base), owner.module))
        except LookupError:
            continue
        members = {each.name: each for each in inherited} | members
    return list(members.values())


def _members(owner: Definition, links: dict[str, str], aliases: dict[str, str]) -> list[str]:
    """Return the list of members, and the columns of the tables that the docstrings name."""
    lines = []
    members = _public_members(owner)
    for each in members:
        note = _annotations(each.node)[-1]
        head = f"{each.name}: {_spelt_out(note, aliases)}" if _is_attribute(each.node) else _call(each, aliases)
        text = " ".join(_prose(each.docstring, links).split()).replace("- **Raises**", "**Raises**")
        lines.append(f"- `{' '.join(head.split())}`" + (f": {text}" if text else ""))
    # A member may be inherited from a class of another module.
    modules = {constant: each.module for each in (*members, owner) for constant in COLUMNS.findall(each.docstring)}
    for constant, module in modules.items():
        definition = _columns(constant, module)
        columns = getattr(import_module(definition.module), constant)
        keys = [column.key if isinstance(column, Column) else column for column in columns]
        dtypes = columns if isinstance(columns, Mapping) else dict.fromkeys(keys, "")
        names = [f"`{name}` {dtype}".rstrip() for name, dtype in dtypes.items()]
        lines.append(f"\n**{constant}**: {', '.join(names)}.\n\n{_prose(definition.docstring, links)}")
    return [*lines, ""]


def _is_attribute(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return isinstance(node, ast.AnnAssign) or bool({ast.unparse(each) for each in decorators} & PROPERTIES)


def _columns(constant: str, module: str) -> Definition:
    """Return the definition of the columns that a docstring names, in its module or one that this imports from.

    Raises:
        LookupError: none of these defines them.
    """
    imports = (node.module for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom))
    for name in (module, *filter(None, imports)):
        with suppress(LookupError):
            return _definition(constant, name)
    raise LookupError(f"{module}: {constant}")


def _spelt_out(annotation: str, aliases: dict[str, str]) -> str:
    """Return an annotation with the words of a set in place of its name."""
    sets = {name: value for name, value in aliases.items() if value.startswith("Literal")}
    return re.sub(r"\b[A-Z]\w+\b", lambda match: sets.get(match[0], match[0]), annotation)


def _call(function: Definition, aliases: dict[str, str]) -> str:
    """Return a function as it is called, with values in place of constants."""
    node = function.node
    assert isinstance(node, ast.FunctionDef)
    lines = []
    for line in re.split(r", (?=\*|\w+: )", re.sub("^(self|cls)(, )?", "", ast.unparse(node.args))):
        line = _spelt_out(line, aliases)
        if (match := re.fullmatch(r"(.+?)=([^=]+)", line)) is not None:
            line = f"{match[1]} = {eval(match[2], vars(import_module(function.module)))!r}"
        lines.append(line)
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    if len(call := f"{node.name}({', '.join(lines)}){result}") < 100:
        return call
    return "\n".join([f"{node.name}(", *(f"    {line}," for line in lines), f"){result}"])


def _modules(definitions: Iterable[Definition], linked: Iterable[str]) -> list[str]:
    """Return the linked modules, those that docstrings refer to, and that these refer to, in alphabetical order."""
    modules = dict.fromkeys(linked)
    queue = deque((each.module, each.docstring) for each in definitions)
    queue += [(name, _docstring(_tree(name))) for name in modules]
    while queue:
        module, text = queue.popleft()
        for _, words in CODE.findall(text):
            name = _module(words, module)
            if name is not None and name not in modules:
                modules[name] = None
                queue.append((name, _docstring(_tree(name))))
    return sorted(modules)


def _module(words: str, module: str) -> str | None:
    """Return the module of the package that words in a docstring name: whole, below the package, or beside."""
    if not re.fullmatch(r"[a-z_]+(\.[a-z_]+)*", words):
        return None
    beside = [f"{module}.{words}"] if "." not in words else [words, f"{PACKAGE}.{words}"]
    for name in beside:
        if name.startswith(f"{PACKAGE}.") and _is_module(name):
            return name
    return None


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _prose(docstring: str, links: dict[str, str]) -> str:
    """Return a docstring as Markdown: what it raises as a list, classes and modules as links, signs as they stand."""
    text, _, raises = docstring.partition("\nRaises:\n")

    def linked(match: re.Match[str]) -> str:
        name = match[2] if match[2] in links else f"{PACKAGE}.{match[2]}"
        return f"[{match[0]}](#{links[name]})" if name in links else match[0]

    pieces = []
    place = 0
    for match in CODE.finditer(text):
        pieces += [_escaped(text[place : match.start()]), linked(match)]
        place = match.end()
    prose = "".join([*pieces, _escaped(text[place:])])
    errors = re.findall(r"^(\w+): (.*(?:\n +.*)*)", dedent(raises), re.MULTILINE)
    items = [f"- **Raises** `{name}`: {' '.join(words.split())}" for name, words in errors]
    return "\n".join([prose, "", *items, ""])


def _escaped(text: str) -> str:
    """Return text with signs of Markdown as they stand, but for indented lines, which are formulas."""
    return re.sub(
        "^(?!    ).*", lambda line: line[0].replace("*", r"\*").replace("<", "&lt;"), text, flags=re.MULTILINE
    )
