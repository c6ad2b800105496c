"""What calls in machine code find where: on the desk of a data, and in the table of the process."""

from __future__ import annotations

from typing import NamedTuple

from ..native.process import FOUND as OF_PROCESS

# numbers of the desk: what a data object has at hand for calls
(
    NQ, SIX, NV, NV_AGAIN, ZEROS, ENERGIES, KEPT, CHANGED, NJOINTS, FORCES, TAU, ALSO, COUPLING, COUPLING_TABLES,
    NFRAMES, RATE_TABLES, KNOWN, TREE_WORDS, DERIVATIVES, STATE, THREE, NV_TOO,
    MOTION_RATES, MOTION_RATES_TABLES, COUPLED, COUPLED_SIZE, COUPLING_G, REGRESSOR_ROWS, REGRESSOR_WIDTH,
    STATIC_ROWS, STATIC_WIDTH, STATIC, KINETIC, POTENTIAL, CONTACT_STATE, MODEL,
) = range(36)  # fmt: skip
PLACES = 36  # from here on per entry: address of its kernel (0: not compiled), address of the kernel's tables
# numbers of the table; behind them the Python function of each entry
FOUND = (
    *OF_PROCESS, "desk_class", "data_class", "model", "desk", "contact_desk", "model_class", "model_desk",
    "pin_integrate", "pin_difference", "reference_frame", "local",
)  # fmt: skip


# numbers of a plan: what columns of the inverse mass matrix one asks for; then shapes, whether accelerations or
# products are wanted, and of what model it is, told by the address of its tables as in ``MODEL``
ASKED, ASKED_ROWS, WIDTH, NUMBERS, NUMBERS_SIZE, PANEL, PANEL_ROWS, LANES = range(8)
TORQUES, TORQUES_ROWS, TORQUES_COLUMNS, GRAM_ROWS, GRAM_COLUMNS, RESPONSE_ROWS, RESPONSE_COLUMNS = range(8, 15)
ACCELERATIONS, PLAN_MODEL = 15, 16
PLAN_SIZE = 17
# numbers of a plan of contacts: arrays as address and sizes; lists given, and words that must be what they were
CONTACTS_ASKED, CONTACTS_NUMBERS, CONTACTS_PANEL, CONTACTS_GRAM, CONTACTS_FORCES = 0, 3, 5, 8, 11
CONTACTS_GIVEN, CONTACTS_WORDS = 13, 15
# of their derivatives: rows and velocities, then arrays
ROWS, ACTING, ORDER, RIGHT_SIDES, JACOBIAN, RESPONSE, TURNED, COLUMN_ROOM = 17, 19, 21, 23, 26, 28, 30, 32
CONTACTS_MODEL = 34
CONTACTS_SIZE = 35


# numbers of what derivatives need: where results, torques and accelerations are, and the state that belongs to them;
# of forward dynamics the tree of velocities, the room of right sides, that of factors; of contacts also the derivatives
# of their forces, the rows for which there is room, and those that are there
(
    OF_POSITION, OF_RATE, SCRATCH, CORIOLIS, TOTAL, MASS, TORQUES_OF, STATE_OF, TREE, TREE_SIZE, FACTORS_SIZE, SIDES,
    SIDES_ROWS, SIDES_LANES, FACTORS, ACCELERATION_OF, SIX_AND_NV, SIX_AND_NV_TOO, OF_FORWARD, INVERSE,
    OF_TORQUES, FORCES_RATES, FORCES_ROOM, FORCES_ROWS, FORWARD_KERNEL, DERIVATIVES_SIZE,
) = range(26)  # fmt: skip


# questions about lists, see ``recollection``: names of joints; frames at which forces act, beside the robot's own
# inputs, or beside as many given ones. Frames of which products are wanted have the address of what tells the rows
HYBRID_NAMES, OWN_INPUTS, GIVEN_INPUTS = range(1, 4)


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
DESK_SIZE = PLACES + 2 * len(ALL)
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
NAMES = tuple(name for names in GROUPS.values() for name in names)
"""In the order of their places in the table."""
