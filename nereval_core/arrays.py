"""Types of NumPy arrays by their elements, and arrays that cannot be written into."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

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
