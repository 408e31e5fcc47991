"""The sorts of arrays that signatures name, in one place."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]
# Places in another array.
IndexArray: TypeAlias = NDArray[np.intp]
