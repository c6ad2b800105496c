"""Old names of arguments, attributes and constants, which still work but emit a ``DeprecationWarning``."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated. Use {new}.", DeprecationWarning, stacklevel=3)


def argument(old: str, new: str) -> Callable[[_F], _F]:
    """Return a decorator with which a function accepts the deprecated keyword ``old`` in place of ``new``."""

    def decorated(function: _F) -> _F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got both {new} and its old name {old}. Pass only {new}.")
                _warn(f"{function.__name__}({old}=)", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorated


def attribute(new: str) -> Any:
    """Return a deprecated property that returns the attribute ``new``; call this function in the body of a class."""

    def read(instance: Any) -> Any:
        _warn("This attribute", f"the attribute {new!r}")
        return getattr(instance, new)

    return property(read)


def constant(module: Mapping[str, Any], old: str, new: str) -> Any:
    """Warn and return the constant ``new`` of a module; call this function in the module's ``__getattr__``."""
    _warn(old, new)
    return module[new]
