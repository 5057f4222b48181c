"""The memo: results about corpora, computed once for all sessions and bounded in bytes.

A result is kept under its function and its arguments; corpora and settings stand for themselves by strings, as to look
at all data, or at a sample of them, would be slow or wrong. A refusal (`FormatError`) is kept like a result: finding
out takes as long.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, singledispatch, wraps
from inspect import signature
from mmap import mmap
from threading import Lock, local
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.problems import FormatError, Problem
from nereval_core.scoring import Settings
from pages.shared.data.loading import Loaded
from pages.shared.streamlit_internals import session_id

BOUND = 4 << 30
"""Bytes of all results together with the corpora that they hold; the result unused longest goes first."""
SAMPLE = 100
"""Members of a long collection that are measured; the others are taken to be like them."""
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item", bound=Hashable)


@singledispatch
def key_of(argument: object) -> Hashable:
    """Return the key that tells an argument apart; modules register how for types that are not hashable themselves."""
    assert isinstance(argument, Hashable)
    return argument


@key_of.register
def _(argument: Loaded) -> Hashable:
    return argument.id


@key_of.register
def _(argument: Settings) -> Hashable:
    return _rules_of(argument)


@lru_cache(maxsize=256)
def _rules_of(settings: Settings) -> str:
    """Return the whole rules as a text, which has a hash of its own: two users may call different ones by one name."""
    return repr(settings)


@key_of.register(list)
@key_of.register(tuple)
def _(argument: Collection[object]) -> Hashable:
    return tuple(map(key_of, argument))


@key_of.register(dict)
def _(argument: Mapping[object, object]) -> Hashable:
    return tuple((key, key_of(value)) for key, value in argument.items())


@dataclass(frozen=True)
class _Refusal:
    """The problems of a refusal: the traceback of an error would hold the corpus that was sent to another process."""

    problems: tuple[Problem, ...]


@dataclass
class _Entry:
    value: object
    about: Loaded | None
    corpus: tuple[str, int] = ("", 0)
    """Id and bytes of the corpus that it is about."""
    size: int = 0
    is_used: bool = False


class Memo:
    """Results by key, of which the last used are kept, up to a bound in bytes, but always the newest."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        # Sums over the entries: to add them up for each result would slow down with what others computed.
        self._values: Counter[int] = Counter()
        self._corpora: Counter[tuple[str, int]] = Counter()
        self._n_bytes = 0
        self._computing: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()

    def get(self, key: Hashable, compute: Callable[[], object], about: Loaded | None = None) -> object:
        """Return a result about a corpus, computed by one thread while others that ask for it wait.

        Raises:
            FormatError: the computation was refused, now or before.
        """
        entry = self._find(key)
        if entry is None:
            with self._lock:
                computing = self._computing.setdefault(key, Lock())
            with computing:
                entry = self._find(key) or self._put(key, compute, about)
        if isinstance(entry.value, _Refusal):
            raise FormatError(entry.value.problems)
        return entry.value

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        with self._lock:
            for key in [*self._entries]:
                self._drop(key)

    def measure(self, *, again: bool = False) -> None:
        """Measure the results that are new, or used since they were measured, and forget what exceeds the bound."""
        with self._lock:
            entries = list(self._entries.items())
        self._measure([key for key, entry in entries if entry.size == 0 or (again and entry.is_used)])

    def _measure(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            entry = self._entries.get(key)
            if entry is None:
                continue
            entry.is_used = False
            # Results hold others, which are counted once.
            size = 1 + bytes_of(entry.value, entry.about, self._values)
            with self._lock:
                if self._entries.get(key) is entry:
                    self._n_bytes += size - entry.size
                    entry.size = size
        with self._lock:
            # Corpora that results are about count once each.
            while len(self._entries) > 1 and self._n_bytes + sum(n_bytes for _, n_bytes in self._corpora) > self._bound:
                self._drop(next(iter(self._entries)))

    def forget(self, key: str) -> None:
        """Forget the results about what was read from an input, as its corpus goes."""
        with self._lock:
            for name in [name for name, entry in self._entries.items() if entry.about and entry.about.key == key]:
                self._drop(name)

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key)
        self._n_bytes -= entry.size
        _discount(self._values, id(entry.value))
        _discount(self._corpora, entry.corpus)

    def _find(self, key: Hashable) -> _Entry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                # Results compute parts of themselves when they are asked for them.
                entry.is_used = True
            return entry

    def _put(self, key: Hashable, compute: Callable[[], object], about: Loaded | None) -> _Entry:
        try:
            entry = _Entry(compute(), about)
        except FormatError as error:
            entry = _Entry(_Refusal(error.problems), about)
        if about is not None:
            entry.corpus = about.id, objects_of(about)[1]
        with self._lock:
            self._entries[key] = entry
            self._values[id(entry.value)] += 1
            self._corpora[entry.corpus] += 1
        self._measure([key])
        return entry


def _discount(counts: Counter[Item], item: Item) -> None:
    counts[item] -= 1
    if not counts[item]:
        del counts[item]


MEMO = Memo()
_NESTED = local()


def memoized(
    spinner: str = "", *, show_time: bool = False
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Keep the results of a function in the memo; `spinner` is shown while it runs.

    Parameters whose names begin with "_" do not tell results apart: they follow from the others.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        name = f"{function.__module__}.{function.__qualname__}"
        is_told = [not parameter.startswith("_") for parameter in signature(function).parameters]

        @wraps(function)
        def remembered(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
            positional = (key_of(argument) for argument, is_part in zip(arguments, is_told, strict=False) if is_part)
            keyword = ((word, key_of(value)) for word, value in sorted(named.items()) if not word.startswith("_"))
            key = (name, *positional, *keyword)
            first: Any = arguments[0] if arguments else None
            about = first if isinstance(first, Loaded) else getattr(first, "loaded", None)
            return cast(Result, MEMO.get(key, lambda: _computed(lambda: function(*arguments, **named)), about))

        def _computed(compute: Callable[[], Result]) -> Result:
            # A computation within another one has the spinner of the latter.
            outermost = not getattr(_NESTED, "running", False)
            has_spinner = outermost and spinner and session_id() is not None
            _NESTED.running = True
            try:
                with st.spinner(spinner, show_time=show_time) if has_spinner else nullcontext():
                    return compute()
            finally:
                _NESTED.running = not outermost

        return remembered

    return decorate


_NO_DATA = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)
_OF_CORPORA: WeakKeyDictionary[Loaded, tuple[set[int], int]] = WeakKeyDictionary()


def objects_of(loaded: Loaded) -> tuple[set[int], int]:
    """Return the ids of the objects that make up a corpus, which its results refer to, and their bytes."""
    if loaded not in _OF_CORPORA:
        counted = {id(None)}
        made_of = (loaded, loaded.origin, loaded.original)
        n_bytes = sum(_size(source.corpus, counted) for source in made_of if source is not None)
        _OF_CORPORA[loaded] = counted, n_bytes
    return _OF_CORPORA[loaded]


def bytes_of(value: object, about: Loaded | None, others: Container[int]) -> int:
    """Return about how many bytes a result takes without its corpus, and without other objects by their ids."""
    counted = set(objects_of(about)[0] if about is not None else ())
    counted.discard(id(value))
    return _size(value.corpus if isinstance(value, Loaded) else value, counted, others)


def _size(value: object, counted: set[int], others: Container[int] = ()) -> int:
    """Return about how many bytes a value takes with all that it refers to, but for others and objects already seen.

    Arrays count by their bytes, those mapped from a file not at all.
    """
    total, stack = 0, [value]
    while stack:
        item = stack.pop()
        is_other = item is not value and id(item) in others
        if is_other or id(item) in counted or isinstance(item, (*_NO_DATA, Loaded)):
            continue
        counted.add(id(item))
        if isinstance(item, np.ndarray) and item.base is not None:
            total += item.nbytes if id(item.base) not in counted and not isinstance(item.base, np.ndarray | mmap) else 0
            stack.append(item.base)
            continue
        total += _own_bytes(item)
        members = _members(item)
        if len(members) > SAMPLE:
            sampled = members[:: len(members) // SAMPLE]
            n_bytes = sum(_size(member, counted, others) for member in sampled if id(member) not in others)
            total += n_bytes * len(members) // len(sampled)
        else:
            stack += members
    return total


def _own_bytes(item: object) -> int:
    if isinstance(item, _FRAMES):
        return int(np.sum(item.memory_usage()))
    nbytes = getattr(item, "nbytes", None)
    return int(nbytes) if isinstance(nbytes, int) else sys.getsizeof(item, 0)


def _members(item: object) -> list[object]:
    if isinstance(item, (str, bytes, bytearray, np.ndarray, *_FRAMES)):
        return []
    if isinstance(item, dict | MappingProxyType):
        return [*item.keys(), *item.values()]
    if isinstance(item, list | tuple | set | frozenset):
        return list(item)
    slots = [getattr(item, slot, None) for kind in type(item).__mro__ for slot in getattr(kind, "__slots__", ())]
    return [*slots, *getattr(item, "__dict__", {}).values()]


_FRAMES = (pd.DataFrame, pd.Series, pd.Index)
