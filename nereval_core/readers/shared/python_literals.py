"""Literals of Python, bounded: lists, tuples and dicts as models answer, data frames are saved and `print` shows."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

LONGEST_LITERAL, DEEPEST_LITERAL = 100_000, 50
LONGEST_FILE = 1_000_000
"""The most characters of a literal over many lines: Python takes some 500 bytes for each."""
NAMED = re.compile(r"\s*[A-Za-z_]\w*\s*=\s*(?=[\[({])")
CLASS_NAME = "class_name"
"""The key of the name of a class, beside the values of its object."""
NUMBER = re.compile(r"(?:float|int|uint)[0-9]*|tensor")


class _PlainValues(ast.NodeTransformer):
    """Puts plain values in the place of objects: the number of `np.float32(0.9)`, a list for a set, and a dict for
    `Person(span="Anna")`, as GoLLIE and pydantic write entities, with the name of the class under `class_name`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if node.keywords and not node.args and all(keyword.arg for keyword in node.keywords):
            keys = [*(str(keyword.arg) for keyword in node.keywords), CLASS_NAME]
            values = [*(keyword.value for keyword in node.keywords), ast.Constant(name)]
            return ast.Dict([ast.Constant(key) for key in keys], values)
        return node.args[0] if len(node.args) == 1 and NUMBER.fullmatch(name) else node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return ast.List(node.elts, ast.Load())


def python_literal(text: str, longest: int = LONGEST_LITERAL) -> tuple[Any] | None:
    """Return the value of a literal, alone in a tuple; None for any other text, and where a key stands twice."""
    deepest = depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if len(text) > longest or deepest > DEEPEST_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
            for node in ast.walk(tree):
                keys = [key.value for key in getattr(node, "keys", ()) if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
            return (ast.literal_eval(_PlainValues().visit(tree)),)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def json_value(value: Any) -> Any:
    """Return a value of Python as one of JSON: tuples are lists; None where it is neither."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None


def json_of_literals(raw: bytes) -> bytes:
    """Return a file of literals, one a line or one behind a name, as JSON with a value a line; any other as it is."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw
    lines = [_as_json_line(line, LONGEST_LITERAL) for line in text.split("\n")]
    if None in lines:
        lines = [_as_json_line(NAMED.sub("", text, count=1), LONGEST_FILE)]
    values = [line for line in lines if line is not None]
    return raw if len(values) < len(lines) else "\n".join([*values, ""]).encode(errors="surrogatepass")


def _as_json_line(text: str, longest: int) -> str | None:
    """Return a literal as JSON on a line, None for what is not one or has values that JSON has not."""
    if not text.strip():
        return ""
    literal = python_literal(text.strip(), longest)
    try:
        return None if literal is None else json.dumps(literal[0], ensure_ascii=False)
    except (TypeError, ValueError):
        return None
