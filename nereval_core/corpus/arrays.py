"""Types of NumPy arrays by their elements, and arrays that cannot be written into."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
UInt64 = NDArray[np.uint64]
Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]

AnyArray = TypeVar("AnyArray", bound=Array)


def frozen(array: AnyArray) -> AnyArray:
    """Return the array, which can no longer be written into."""
    array.setflags(write=False)
    return array


def edges_of(sizes: ArrayLike) -> Int64:
    """Return where parts of these sizes begin in a row of them, and last where they end, shape (parts + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def narrow_integers(numbers: Array) -> Array:
    """Return integers, which are -1 at least, in 32 bits where they fit."""
    return numbers.astype(np.int32) if int(numbers.max(initial=0)) < 1 << 31 else numbers.astype(np.int64)
