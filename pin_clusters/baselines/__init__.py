"""What one does without cluster algorithms, as well as it can be done in Python; also the oracle of the tests.

==================  ===========================================================  ========
module              how                                                          result
==================  ===========================================================  ========
``projection``      Pinocchio on the tree with every rotor a body, projected     exact
``lagrange``        the same tree with the couplings as Lagrange multipliers     exact
``block``           tree without rotors, and their reflected inertia as matrix   approximate
``armature_model``  a ``pin.Model`` without rotors, armature (or nothing)        approximate
==================  ===========================================================  ========

Every module has its own ``createData(model)``. Vectors are in the public order, as in the rest of the package.
"""

from __future__ import annotations

from . import block, lagrange, projection
from .armature import armature_model

__all__ = ["armature_model", "block", "lagrange", "projection"]
