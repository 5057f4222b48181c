"""Arrays that grow block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """Arrays by name, each kept as the blocks' parts until it is asked for."""

    def __init__(self, *names: str) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}

    def add(self, **parts: NDArray[Any]) -> None:
        for name, part in parts.items():
            self._parts[name].append(part)

    def last(self, name: str) -> NDArray[Any]:
        """Return the part added last."""
        return self._parts[name][-1]

    def parts(self, name: str) -> list[NDArray[Any]]:
        """Return the parts of an array, and forget them."""
        return self._parts.pop(name)

    def whole(self, name: str, *more: NDArray[Any]) -> NDArray[Any]:
        """Return an array, with these at its end, and forget its parts."""
        parts = [*self.parts(name), *more]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)
