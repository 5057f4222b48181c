"""Types of NumPy arrays by what they hold. Shapes stand where an array is described."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
UInt64 = NDArray[np.uint64]
Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]
