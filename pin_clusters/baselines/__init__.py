"""What one does without cluster algorithms, as well as it can be done in Python; also the oracle of the tests.

==================  ===================================================================  ===========  =====
module              how                                                                  result       loops
==================  ===================================================================  ===========  =====
``projection``      Pinocchio on the tree with every rotor a body, projected             exact        yes
``hybrid``          ``projection`` with some accelerations given, in four steps          exact        yes
``contacts``        ``projection`` with contacts, in one system of equations              exact        yes
``lagrange``        the same tree with all constraints as Lagrange multipliers           exact        yes
``constrained``     ``pin.constraintDynamics`` or ``pin.lcaba``, with what they express  exact        only
``unconstrained``   the same tree, only the rows of independent joints                   approximate  yes
``block``           tree without rotors, and their reflected inertia as matrix           approximate  no
``armature_model``  a ``pin.Model`` without rotors, armature (or nothing)                approximate  no
``armature``        operational inertia of that model: its inverse, or contact Cholesky  approximate  no
``sparse``          operational inertia by the tree's factorisation with constraints     exact        yes
``unit_forces``     inverse input matrix by one forward dynamics per input (eUFM)        exact        yes
==================  ===================================================================  ===========  =====

Every module has its own ``createData(model)``. Vectors are in the public order, as in the rest of the package.
"""

from __future__ import annotations

from ..armature import armature_model
from . import (
    armature,
    block,
    constrained,
    contacts,
    hybrid,
    lagrange,
    projection,
    sparse,
    unconstrained,
    unit_forces,
)

__all__ = [
    "armature",
    "armature_model",
    "block",
    "constrained",
    "contacts",
    "hybrid",
    "lagrange",
    "projection",
    "sparse",
    "unconstrained",
    "unit_forces",
]
