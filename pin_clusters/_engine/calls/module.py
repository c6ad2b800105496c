"""The machine code of calls, as one module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from .asker import Ask
from .code import Function
from .desk import (
    ASK,
    COLUMNS,
    CONTACT_DERIVATIVES,
    CONTACT_DYNAMICS,
    DERIVATIVES_OF,
    ENERGY_REGRESSORS,
    ENTRIES,
    GROUPS,
    HELPERS,
    HYBRID,
    REGRESSOR,
)
from .moves import Difference, Integrate, Project
from .of_columns import Columns, InputMatrix, OperationalInertia
from .of_contacts import ContactDerivatives, ContactDynamics
from .of_derivatives import AbaDerivatives, Derivatives
from .of_hybrid import Hybrid
from .of_places import Accelerations, Center, Hessian, Velocities
from .of_regressor import EnergyRegressor, Regressor
from .of_tree import FrameJacobian, Motion, Tree
from .parts import write_parts
from .wrappers import Signature, write_wrapper
from .writer import Library

_OF_TREE = (Tree, FrameJacobian, Motion, Velocities, Accelerations, Center, Hessian)
_WRITERS: dict[str, Callable[[Library], Any]] = {
    **{entry.name: partial(Function, entry) for entry in ENTRIES},
    **{writer.name: writer for writer in (Integrate, Difference, Project)},
    **{entry.name: partial(writer, entry) for entry, writer in zip(HELPERS, _OF_TREE, strict=True)},
    **{
        entry.name: partial(writer, entry)
        for entry, writer in zip(COLUMNS, (Columns, OperationalInertia, InputMatrix), strict=True)
    },
    HYBRID.name: partial(Hybrid, HYBRID),
    CONTACT_DYNAMICS.name: partial(ContactDynamics, CONTACT_DYNAMICS),
    CONTACT_DERIVATIVES.name: partial(ContactDerivatives, CONTACT_DERIVATIVES),
    **{
        entry.name: partial(AbaDerivatives if entry.kernel == "aba_derivatives" else Derivatives, entry)
        for entry in DERIVATIVES_OF
    },
    REGRESSOR.name: partial(Regressor, REGRESSOR),
    **{entry.name: partial(EnergyRegressor, entry) for entry in ENERGY_REGRESSORS},
    ASK: Ask,
}


def module(groups: Iterable[str] = GROUPS, kernels: Sequence[Signature] = ()) -> str:
    """Return the code of functions; ``TABLE`` is to be filled with what its names say.

    Args:
        groups: Which functions.
        kernels: Kernels that are to be called from Python, for a library.
    """
    library = Library()
    write_parts(library)
    for group in groups:
        for name in GROUPS[group]:
            _WRITERS[name](library).write()
    for kernel in kernels:
        write_wrapper(library, kernel)
    return str(library.m)
