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

PACKAGE = "nereval_core"
VERSION = "__version__"
COLUMNS = re.compile(r"\b[A-Z_]+_COLUMNS\b")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
MEMBERS = (ast.AnnAssign, ast.FunctionDef)
PROPERTIES = {"property", "cached_property"}
INTRODUCTION = f"""\
# Reference of the library

This page is for people who look up a function, a result or a column; it is made from the docstrings.
`import nereval_core as nereval` gives the verbs; `nereval.{VERSION}` is the version. [Library](library.md) is the tour
with examples.
"""


class Definition(NamedTuple):
    """A function, class or assignment at the top of a module, with its docstring."""

    module: str
    name: str
    node: ast.stmt
    docstring: str


def source_of(name: str) -> str:
    """Return the path of the file that defines a verb, below the root of the repository."""
    return f"{_definition(name, PACKAGE).module.replace('.', '/')}.py"


def verbs() -> list[str]:
    return [name for name in nereval_core.__all__ if name != VERSION]


def reference() -> str:
    """Return the page: verbs, the classes they return, the types of their arguments, and the modules they refer to."""
    functions = [_definition(name, PACKAGE) for name in verbs()]
    results, parts, aliases = _types(functions)
    modules = _modules([*functions, *results, *parts])
    links = {each.name: f"class-{each.name.lower()}" for each in (*results, *parts)}
    links |= {name: name.replace(".", "") for name in modules}
    lines = [INTRODUCTION, "## Verbs\n"]
    for each in functions:
        call = _call(each, aliases)
        lines += [f"### {each.name}()\n", f"```python\n{call}\n```\n", _prose(each.docstring, links)]
    for title, classes in (("Results", results), ("Parts of results, and arguments", parts)):
        lines.append(f"## {title}\n")
        for each in classes:
            lines += [f"### class {each.name}\n", _prose(each.docstring, links), *_members(each, links, aliases)]
    lines.append("## Other types\n")
    lines += [f"- `{name} = {value}`" for name, value in sorted(aliases.items()) if not value.startswith("Literal")]
    lines.append("\n## Definitions\n")
    for name in modules:
        lines += [f"### {name}\n", _prose(_docstring(_tree(name)), links)]
    return "\n".join(lines)


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


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
        head = f"{each.name}: {_annotations(each.node)[-1]}" if _is_attribute(each.node) else _call(each, aliases)
        text = " ".join(_prose(each.docstring, links).split())
        lines.append(f"- `{' '.join(head.split())}`" + (f": {text}" if text else ""))
    named = COLUMNS.findall("\n".join([owner.docstring, *(each.docstring for each in members)]))
    for constant in dict.fromkeys(named):
        definition = _columns(constant, owner.module)
        columns = getattr(import_module(definition.module), constant)
        dtypes = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, "")
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


def _call(function: Definition, aliases: dict[str, str]) -> str:
    """Return a function as it is called; values stand in place of constants, words in place of the name of a set."""
    node = function.node
    assert isinstance(node, ast.FunctionDef)
    names = {name: value for name, value in aliases.items() if value.startswith("Literal")}
    lines = []
    for line in re.split(r", (?=\*|\w+: )", re.sub("^(self|cls)(, )?", "", ast.unparse(node.args))):
        line = re.sub(r"\b[A-Z]\w+\b", lambda match: names.get(match[0], match[0]), line)
        if (match := re.fullmatch(r"(.+?)=([^=]+)", line)) is not None:
            line = f"{match[1]} = {eval(match[2], vars(import_module(function.module)))!r}"
        lines.append(line)
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    if len(call := f"{node.name}({', '.join(lines)}){result}") < 100:
        return call
    return "\n".join([f"{node.name}(", *(f"    {line}," for line in lines), f"){result}"])


def _modules(definitions: Iterable[Definition]) -> list[str]:
    """Return the modules that docstrings refer to, and that these refer to, in alphabetical order."""
    modules: dict[str, None] = {}
    queue = deque((each.module, each.docstring) for each in definitions)
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
    return text.replace("*", r"\*").replace("<", "&lt;")
