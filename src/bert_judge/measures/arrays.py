"""numpy and the types of its arrays, for code that `--help` imports: numpy itself is imported when it is first used."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Truths = NDArray[np.bool_]
    Names = Sequence[Hashable] | Integers
else:
    ArrayLike = Numbers = Integers = Truths = Names = Any

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            setattr(self, name, getattr(numpy, name))
            return getattr(self, name)

    np = _Numpy()

__all__ = ["ArrayLike", "Integers", "Names", "Numbers", "Truths", "np"]
