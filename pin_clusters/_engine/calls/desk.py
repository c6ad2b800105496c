"""The functions that have machine code, and what it finds in the table of the process."""

from __future__ import annotations

from typing import NamedTuple

from ..native.process import FOUND as OF_PROCESS

# what is found in the process and of classes here, by name
FOUND = (
    *OF_PROCESS, "desk_class", "data_class", "model", "desk", "contact_desk", "model_class", "model_desk",
    "pin_integrate", "pin_difference", "reference_frame", "local",
)  # fmt: skip


class Entry(NamedTuple):
    """What a function gives to its kernel.

    Attributes:
        name: Of the function.
        kernel: Of the data's kernels: rnea, aba, crba, minverse, energy.
        result: Name of the data's result that the kernel's tables lead to.
        arguments: For each array of the kernel: ``q`` or ``v`` if given, of that size; ``0``: zeros of size nv. Then
            ``f`` if external forces are given, which the kernel reads behind its result.
        returns: ``vector``, ``matrix``, or which of the energies: ``kinetic``, ``potential``, ``mechanical``.
    """

    name: str
    kernel: str
    result: str
    arguments: str
    returns: str


ENTRIES = (
    Entry("aba", "aba", "ddq", "qvv", "vector"),
    Entry("rnea", "rnea", "tau", "qvv", "vector"),
    Entry("computeStaticTorque", "rnea", "forced", "q00f", "vector"),
    Entry("nonLinearEffects", "rnea", "nle", "qv0", "vector"),
    Entry("computeGeneralizedGravity", "rnea", "g", "q00", "vector"),
    Entry("crba", "crba", "M", "q", "matrix"),
    Entry("computeMinverse", "minverse", "Minv", "q", "matrix"),
    Entry("computeKineticEnergy", "energy", "energy", "qv", "kinetic"),
    Entry("computePotentialEnergy", "energy", "energy", "q0", "potential"),
    Entry("computeMechanicalEnergy", "energy", "energy", "qv", "mechanical"),
)
HELPERS = (
    Entry("quick_tree", "of_tree", "tree", "", ""),
    Entry("quick_jacobian", "of_frame", "tree", "", ""),
    Entry("quick_motion", "of_tree", "moved", "", ""),
    Entry("quick_velocities", "of_place", "moved", "", ""),
    Entry("quick_accelerations", "of_place", "moved", "", ""),
    Entry("quick_center", "of_center", "tree", "", ""),
    Entry("quick_hessian", "of_hessian", "tree", "", ""),
)
"""What functions of the tree call: they tell whether the call was the usual one."""
COLUMNS = tuple(
    Entry(name, "columns", "Minv", "", "")
    for name in ("quick_columns", "inverse_operational_inertia", "inverse_input_matrix")
)
"""What asks for columns of the inverse mass matrix; the first one is called by others that do."""
HYBRID = Entry("hybrid_dynamics", "hybrid", "ddq", "", "")
CONTACT_DYNAMICS = Entry("constraintDynamics", "contacts", "ddq", "", "")
"""Contacts that are kept closed, given by Pinocchio's objects."""
DERIVATIVES_OF = (
    Entry("computeRNEADerivatives", "rnea_derivatives", "rates", "qvv", "position rate mass"),
    Entry("computeGeneralizedGravityDerivatives", "rnea_derivatives", "rates", "q00", "position"),
    Entry("computeStaticTorqueDerivatives", "rnea_derivatives", "rates", "q00f", "position"),
    Entry("computeCoriolisMatrix", "rnea_derivatives", "rates", "qv0", "coriolis"),
    Entry("computeCentroidalDynamicsDerivatives", "rnea_derivatives", "rates", "qvv", "total"),
    Entry("computeABADerivatives", "aba_derivatives", "rates", "qvv", ""),
)
"""Derivatives of dynamics; what they return stands in the data, but for those of forward dynamics."""
CONTACT_DERIVATIVES = Entry("computeConstraintDynamicsDerivatives", "contact_derivatives", "rates", "", "")
REGRESSOR = Entry("computeJointTorqueRegressor", "regressor", "regressor", "", "")
ENERGY_REGRESSORS = (
    Entry("computeStaticRegressor", "energy_regressors", "regressor", "q", "static"),
    Entry("computeKineticEnergyRegressor", "energy_regressors", "regressor", "qv", "kinetic"),
    Entry("computePotentialEnergyRegressor", "energy_regressors", "regressor", "q", "potential"),
)
"""What they return stands in the data."""
ALL = (
    *ENTRIES,
    *HELPERS,
    *COLUMNS,
    HYBRID,
    CONTACT_DYNAMICS,
    *DERIVATIVES_OF,
    CONTACT_DERIVATIVES,
    REGRESSOR,
    *ENERGY_REGRESSORS,
)
ASK = "ask"
"""What asks functions of the user: a function that only kernels call."""
GROUPS = {
    "data": tuple(entry.name for entry in ENTRIES),
    "tree": tuple(entry.name for entry in HELPERS),
    "columns": tuple(entry.name for entry in COLUMNS),
    "hybrid": (HYBRID.name,),
    "contacts": (CONTACT_DYNAMICS.name,),
    "derivatives": tuple(entry.name for entry in DERIVATIVES_OF),
    "contact derivatives": (CONTACT_DERIVATIVES.name,),
    "regressor": (REGRESSOR.name, *(entry.name for entry in ENERGY_REGRESSORS)),
    "moves": ("integrate", "difference", "project"),
    "asking": (ASK,),
}
"""All functions that have machine code; where there is no library, the code of a group is made when it is needed."""
TABLE = (*FOUND, *(name for names in GROUPS.values() for name in names))
"""Of each number of the table its name; the last ones are the Python functions."""
