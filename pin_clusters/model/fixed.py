"""Read-only copies of parts of a tree. Setting an attribute raises an error, because it would not change the model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from ..errors import ModelError


class _Fixed:
    """Base class of read-only copies. Setting an attribute raises ``ModelError``; ``cure`` names the alternative."""

    cure = ""

    def __setattr__(self, name: str, value: Any) -> None:
        raise ModelError(f"{name!r} cannot be set, because a ClusterModel is immutable. {self.cure}")


class FixedMotion(_Fixed, pin.Motion):
    """A read-only copy of a model's gravity."""

    cure = "Use model = model.with_gravity(g)."

    def __setattr__(self, name: str, value: Any) -> None:
        """Accept the current value, because some programs set gravity to the value that the model already has."""
        if name in ("linear", "angular") and np.array_equal(np.ravel(value), getattr(self, name)):
            return
        super().__setattr__(name, value)

    @property
    def linear(self) -> np.ndarray:
        return _read_only(pin.Motion.linear.fget(self))

    @property
    def angular(self) -> np.ndarray:
        return _read_only(pin.Motion.angular.fget(self))


class FixedInertia(_Fixed, pin.Inertia):
    """A read-only copy of a body's inertia."""

    cure = "Change the values of pc.parameters(model), and use pc.with_parameters(model, values)."


class FixedFrame(_Fixed, pin.Frame):
    """A read-only copy of a frame."""

    cure = "Use model.with_frames({name: (joint, placement)}), which returns a model with an additional frame."


class FixedPlacement(_Fixed, pin.SE3):
    """A read-only copy of a joint's placement."""

    cure = "Change the pin.Model and create a new ClusterModel from it."


class FixedList(Sequence[Any]):
    """A list of read-only copies, which ``kind`` creates on first access; ``cure`` explains how to change an item."""

    def __init__(self, items: Iterable[Any], kind: Callable[[Any], Any], cure: str) -> None:
        self._items, self._kind, self._cure = items, kind, cure
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[arg-type]

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        k = range(len(self))[i]
        if k not in self._made:
            self._made[k] = self._kind(self._items[k])  # type: ignore[index]
        return self._made[k]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __setitem__(self, i: Any, value: Any) -> NoReturn:
        raise ModelError(f"items cannot be set, because a ClusterModel is immutable. {self._cure}")

    def tolist(self) -> list[Any]:
        return list(self)

    def __repr__(self) -> str:
        return repr(self.tolist())


def _read_only(x: np.ndarray) -> np.ndarray:
    copy = np.array(x)
    copy.setflags(write=False)
    return copy
