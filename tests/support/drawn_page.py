"""A page as the server's messages draw it: its elements in their places, its widgets by name, and all its texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from google.protobuf.message import Message

Place = tuple[int, ...]


class DrawnPage:
    """Elements and blocks by their places. A run draws some again; those it leaves out go when it ends."""

    def __init__(self) -> None:
        self._held: dict[Place, tuple[Message, str, str]] = {}
        """An element or a block, the number of the run that drew it, and its fragment."""
        self._run = ""
        self._fragments: set[str] = set()

    def begin(self, run: str, fragments: Iterable[str]) -> None:
        """Begin a run of the whole page, or of some of its fragments."""
        self._run, self._fragments = run, set(fragments)

    def draw(self, place: Place, delta: Any) -> Any:
        """Draw an element or a block at its place; return the widget that it is, None where it is none."""
        if delta.HasField("new_transient"):
            # A spinner over what stands there.
            return None
        drawn = getattr(delta, delta.WhichOneof("type"))
        self._held[place] = (drawn, self._run, delta.fragment_id)
        return _widget(drawn)

    def end(self, *, fragment: bool) -> None:
        """Forget what the run that has ended did not draw again; `fragment`: it drew its fragments alone."""
        self._held = {
            place: held
            for place, held in self._held.items()
            if held[1] == self._run or (fragment and held[2] not in self._fragments)
        }

    def elements(self) -> Sequence[Any]:
        """Return elements and blocks in the order of their places."""
        return [self._held[place][0] for place in sorted(self._held)]

    def widgets(self) -> Iterator[Any]:
        yield from (found for one in self.elements() if (found := _widget(one)) is not None)

    def keys(self) -> Sequence[str]:
        """Return the names of all widgets."""
        return [_key(one.id) for one in self.widgets()]

    def widget(self, name: str) -> Any:
        """Return the widget with an id or a key or, where none has it, with a label."""
        every = list(self.widgets())
        found = [one for one in every if name in (one.id, _key(one.id))]
        found = found or [one for one in every if _label(one) == name]
        assert found, f"no widget is called {name}, only {self.keys()}"
        return found[0]

    def has(self, name: str) -> bool:
        return any(name in (_key(one.id), _label(one)) for one in self.widgets())

    def texts(self) -> Iterator[str]:
        """Yield all texts of the page, those in tables and in data of components too."""
        for one in self.elements():
            yield from _texts(one)

    def faults(self) -> list[str]:
        """Return the faults of the app that the page shows."""
        every = self.elements()
        exceptions = [one.exception.message for one in every if one.WhichOneof("type") == "exception"]
        alerts = [one.alert.body for one in every if one.WhichOneof("type") == "alert"]
        return exceptions + [body for body in alerts if "fault of nereval" in body]


def _key(number: str) -> str:
    """Return the key in the number of a widget, which has two other parts in front."""
    return number.split("-", 2)[-1]


def _label(widget: Any) -> str:
    return str(getattr(widget, "label", ""))


def _widget(drawn: Any) -> Any:
    """Return the widget that an element or a block is, None where it is none."""
    kind = drawn.WhichOneof("type")
    held = getattr(drawn, kind) if kind else None
    return held if str(getattr(held, "id", "")).startswith("$$ID-") else None


def _texts(message: Message) -> Iterator[str]:
    for field, held in message.ListFields():
        several = isinstance(held, Sequence | Mapping) and not isinstance(held, str | bytes)
        for value in (held.values() if isinstance(held, Mapping) else held) if several else (held,):
            if isinstance(value, Message):
                yield from _texts(value)
            elif isinstance(value, bytes) and field.full_name.endswith("ArrowData.data"):
                table = pa.ipc.open_stream(value).read_all()
                yield from table.column_names
                yield from (str(cell) for column in table.columns for cell in column.to_pylist())
            elif isinstance(value, str):
                yield value
