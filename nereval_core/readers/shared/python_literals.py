"""Literals of Python, bounded: lists, tuples and dicts as a model answers them or a data frame is saved with them."""

from __future__ import annotations

import ast
import warnings
from typing import Any

LONGEST_LITERAL, DEEPEST_LITERAL = 100_000, 50


def python_literal(text: str) -> tuple[Any] | None:
    """Return the value of a literal, alone in a tuple; None for any other text, and where a key stands twice."""
    deepest = depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if len(text) > LONGEST_LITERAL or deepest > DEEPEST_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
            for node in ast.walk(tree):
                keys = [key.value for key in getattr(node, "keys", ()) if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
            return (ast.literal_eval(tree),)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
