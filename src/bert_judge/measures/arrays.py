"""numpy, imported when it is first used, as `--help` imports this; types of its arrays, and checks of what is given."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError

__all__ = ["ArrayLike", "Integers", "Names", "Numbers", "Truths", "check_fraction", "check_labelled", "factorise", "np"]

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


def factorise(names: Names) -> tuple[Integers, int]:
    """A number for each name, equal names alike, from 0 on in the order of their first appearance; and how many."""
    if isinstance(names, np.ndarray):
        _, first, codes = np.unique(names, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[codes], len(first)
    numbers: dict[Hashable, int] = {}
    codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names))
    return codes, len(numbers)


def check_labelled(name: str, values: ArrayLike, golds: ArrayLike) -> tuple[Numbers, Integers]:
    """One value or more as arrays, each finite and with a gold label, 0 or 1; `name` is what they are called."""
    numbers, labels = np.asarray(values, float), np.asarray(golds)
    if len(numbers) != len(labels):
        raise InputError(
            f"{len(numbers)} {name} and {len(labels)} gold labels were given; one label each was expected."
        )
    if not len(numbers):
        raise InputError(f"no {name} were given; at least one was expected.")
    for label in labels.tolist():
        if label not in (0, 1):
            raise InputError(f"a gold label is {label!r}; 0 or 1 was expected.")
    if not np.isfinite(numbers).all():
        raise InputError(f"a {name.removesuffix('s')} is not a finite number; finite {name} were expected.")
    return numbers, labels.astype(np.int64)


def check_fraction(name: str, value: float, example: float) -> None:
    """Raise InputError unless 0 < value < 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} is {value}; a number between 0 and 1 was expected, like {example:g}.")
