"""Declarations of all algorithms, from which other modules generate their code and tables.

An *operation* is a sequence of passes over the tables of a robot. The passes are compiled to one kernel and, if
necessary, to a second kernel for closed loops. A *function* is called by users and passes their arguments, or zeros, to
an operation. Other modules use the declarations to create kernels and entry points (``entry_points``,
``kernel_entries``), plans for fast calls (``calls``), batches, traces, robot-specific functions and lists for tests.

To add an operation, write its passes, declare the operation and its functions here, and write the Python functions.
"""

from typing import NamedTuple


def names(takes: str) -> list[str]:
    return [word.partition(":")[0] for word in takes.split()]


class Operation(NamedTuple):
    """A sequence of passes over the tables of a robot.

    Attributes:
        name: Name of the kernel. The kernel for closed loops has the name ``NAME_loops``.
        title: Description in the notice that is printed during compilation.
        passes: Module and function of the passes. The parameters are the tables, followed by the arguments. If the name
            ends in ``_at`` or ``_rows``, the function is the kernel itself, and ``takes`` lists all its parameters.
        takes: Names of the arguments. An argument is a float64 vector unless a type follows a colon: ``f2`` float64
            matrix, ``i0`` integer, ``i1`` integer vector, ``i2`` integer matrix, ``b1`` vector of bytes.
        loops: Whether robots with closed loops use separate passes, ``..._loops``, which other robots do not compile.
        group: Group of related operations.
        nogil: Whether several threads may run the kernel at the same time.
        block: Record that is the only parameter of the kernel; its nested fields are the arguments in order. The kernel
            receives the address of a ``Block`` that contains all arguments, because passing an array takes 60 ns.
    """

    name: str
    title: str
    passes: str
    takes: str
    loops: bool = False
    group: str = ""
    nogil: bool = False
    block: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind or "f1" for _, _, kind in (word.partition(":") for word in self.takes.split()))

    @property
    def result(self) -> str:
        """``vector`` or ``matrix`` if the last argument contains the result; "" if an array of the tables does."""
        kinds = {"out": "vector", "out:f2": "matrix"}
        return kinds.get(self.takes.split()[-1], "") if self.group == "data" else ""

    @property
    def writes(self) -> str:
        """Name of the argument that contains the result; ``keep`` if an array of the tables contains the result."""
        return names(self.takes)[-1] if self.result else "keep"

    @property
    def is_entry(self) -> bool:
        return self.passes.endswith(("_at", "_rows"))


class Function(NamedTuple):
    """A function that runs an operation and that users can call."""

    name: str  # name of the function
    operation: Operation  # operation that the function runs
    # vectors of the state in the order of the operation; ``0`` passes zeros in place of v or a. External forces
    # (``fext``) come last; brackets mark optional external forces.
    takes: str
    gives: str  # names of the results that the function returns or stores in the data
    tables: str  # name of the data's ``Pointer`` that is passed to the kernel
    called: bool = True  # whether users call the function
    traced: bool = True  # whether ``pc.trace`` runs these passes for this function

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.takes.split() if name.isalpha())

    @property
    def sizes(self) -> tuple[str, ...]:
        """Kinds of inputs of a typical call: ``q``, size nq; ``v``, size nv; ``0``, zeros; ``f``, external forces."""
        kinds = {"q": "q", "0": "0", "fext": "f"}
        return tuple(kinds.get(name, "v") for name in self.takes.split() if name != "[fext]")

    @property
    def forced(self) -> bool:
        return "[fext]" in self.takes

    @property
    def specialised(self) -> bool:
        return self.traced and self.operation.group in ("data", "derivatives") and "fext" not in self.inputs


class Traceable(NamedTuple):
    """A function that ``pc.trace`` can record."""

    name: str
    inputs: tuple[str, ...]  # names of its inputs, in order
    forced: bool = False  # whether external forces can be inputs
    about: str = ""  # required option, ``frames`` or ``contacts``; empty if there is none
    dynamic: bool = False  # whether parameters of the robot, such as masses, can be inputs

    @property
    def framed(self) -> bool:
        return self.about == "frames"

    @property
    def touching(self) -> bool:
        return self.about == "contacts"


# --- dynamics
RNEA = Operation("rnea", "rnea (inverse dynamics)", "dynamics.rnea.rnea", "q v a out", loops=True, group="data")
ABA = Operation("aba", "aba (forward dynamics)", "dynamics.aba.aba", "q v tau out", loops=True, group="data")
CRBA = Operation("crba", "crba (mass matrix)", "dynamics.crba.crba", "q out:f2", loops=True, group="data")
MINVERSE = Operation(
    "minverse",
    "computeMinverse (inverse mass matrix)",
    "dynamics.minverse.minverse",
    "q out:f2",
    loops=True,
    group="data",
)
ENERGY = Operation(
    "energy", "energy (kinetic and potential)", "dynamics.energy.energy", "q v", loops=True, group="data"
)
HYBRID = Operation(
    "hybrid",
    "hybrid dynamics",
    "dynamics.hybrid.hybrid",
    "q v tau a prescribed:b1 tau_out a_out",
    loops=True,
    group="hybrid",
)
COLUMNS = Operation(
    "columns",
    "inverse operational inertia, columns of the inverse mass matrix",
    "force_columns.columns.columns",
    "q asked:i2 numbers panel B:f2 gram:f2 response:f2",
    loops=True,
    group="columns",
)
POINTS = Operation(
    "points",
    "points (positions, velocities, response to forces)",
    "force_columns.points.points",
    "q v asked:i2 numbers panel gram:f2 response:f2 positions:f2 velocities",
    loops=True,
    group="columns",
)
CONTACTS = Operation(
    "contacts",
    "contacts (constrained forward dynamics)",
    "contacts.contacts.contacts",
    "q v tau asked:i2 numbers panel gram:f2 forces out",
    loops=True,
    group="contacts",
)
CONTACT_FORCES = Operation(
    "contact_forces",
    "contact forces (redundant, damped or iterated)",
    "contacts.forces.contact_forces_at",
    "gram:f2 how counts:i1 scratch forces found",
)
CONTACT_JACOBIAN = Operation(
    "contact_jacobian",
    "Jacobians of contacts",
    "contacts.jacobians.contact_jacobian",
    "asked:i2 joints:i1 scratch:f2 rows:f2",
)
ROW_FORCES = Operation(
    "row_forces",
    "contact forces (rows of a constraint)",
    "contacts.forces.row_forces_at",
    "J:f2 response:f2 free drift scale how counts:i1 gram:f2 scratch forces found out",
)
CONTACT_INVERSE = Operation(
    "contact_inverse",
    "contact forces (inverse of their matrix)",
    "contacts.forces.contact_inverse_at",
    "gram:f2 mu scale scratch out:f2",
)
MASS_RESPONSE = Operation(
    "mass_response",
    "contact forces (response of a dense mass matrix)",
    "contacts.mass_matrix.mass_response_at",
    "M:f2 rows:f2 scratch out:f2",
)
KKT_INVERSE = Operation(
    "kkt_inverse",
    "contact forces (inverse of the equations of motion)",
    "contacts.mass_matrix.kkt_inverse_at",
    "M:f2 J:f2 mu scratch out:f2",
)

# --- derivatives of dynamics
RNEA_DERIVATIVES = Operation(
    "rnea_derivatives",
    "computeRNEADerivatives (derivatives of inverse dynamics)",
    "variations.rnea_derivatives.derivatives",
    "q v a forces tau dq dv M total",
    loops=True,
    group="derivatives",
)
ABA_DERIVATIVES = Operation(
    "aba_derivatives",
    "computeABADerivatives (derivatives of forward dynamics)",
    "variations.aba_derivatives.aba_derivatives_at",
    "address:i0 aba:i0 aba_tables:i0 derivatives:i0 plan:i1 scratch L q v tau ddq forces torques dq dv M nothing "
    "ddq_dq ddq_dv Minv",
    group="derivatives",
)
CONTACT_RATES = Operation(
    "contact_rates",
    "derivatives of contact terms (with derivatives of inverse dynamics)",
    "contacts.derivatives.contact_rates_at",
    "address:i0 derivatives:i0 q v tau ddq asked:i2 numbers forces acting torques dq dv M nothing jacobian X turned "
    "scratch",
    group="contacts",
)
CONTACT_DERIVATIVES = Operation(
    "contact_derivatives",
    "derivatives of dynamics with contacts",
    "contacts.derivatives.contact_derivatives_at",
    "address:i0 forward:i0 forward_tables:i0 rates:i0 derivatives:i0 q v tau ddq asked:i2 numbers panel gram:f2 "
    "forces acting torques dq dv M nothing plan:i1 order:i1 X L jacobian response turned scratch ddq_dq ddq_dv "
    "ddq_dtau "
    "dlambda_dq dlambda_dv dlambda_dtau",
    group="contact derivatives",
)

# --- the tree: kinematics, momentum, and regressors of the parameters
TREE = Operation("tree", "kinematics and momentum of the tree", "tree.tree.tree", "what:i0 q v a", group="tree")
FRAME_JACOBIAN = Operation(
    "frame_jacobian",
    "Jacobians of frames",
    "tree.frame_jacobians.frame_jacobian",
    "q place:i0 reference:i0 rate:i0 M to:f2",
    group="tree",
)
FRAME_TERMS = Operation(
    "frame_terms", "terms of frames", "tree.frame_terms.frame_terms", "places:i1 reference:i0 to", group="tree"
)
PLACE_DERIVATIVES = Operation(
    "place_derivatives",
    "derivatives of the motion of frames",
    "tree.place_derivatives.place_derivatives",
    "place:i0 reference:i0 M v_q:f2 v_v:f2 a_q:f2 a_v:f2",
    group="tree",
)
PLACE_HESSIAN = Operation(
    "place_hessian",
    "derivatives of Jacobians",
    "tree.place_hessians.place_hessian",
    "place:i0 reference:i0 M to",
    group="tree",
)
CENTER_RATES = Operation(
    "center_rates", "derivatives of the centre of mass", "tree.center_rates.center_rates", "to:f2", group="tree"
)
SUBTREE_JACOBIAN = Operation(
    "subtree_jacobian",
    "Jacobians of centres of mass of subtrees",
    "tree.subtree_jacobian.subtree_jacobian",
    "q joint:i0 to:f2",
    group="tree",
)
REGRESSOR = Operation(
    "regressor", "regressor of joint torques", "regressors.regressor.regressor", "q v a result:f2", group="regressor"
)
ENERGY_REGRESSORS = Operation(
    "energy_regressors",
    "regressors of energies and of the centre of mass",
    "regressors.energy_regressors.energy_regressors",
    "q v static kinetic potential",
    group="regressor",
)

# --- closed loops (coupling matrix G, projection, continuation) and simulation
COUPLING = Operation("coupling", "coupling_jacobian (G and its bias)", "variations.coupling.coupling", "q v")
COUPLING_DERIVATIVES = Operation(
    "coupling_derivatives",
    "derivatives of the coupling (closed loops)",
    "variations.coupling_derivatives.coupling_derivatives",
    "q v a found",
)
PROJECT = Operation("project", "project (closing of loops)", "moves.closing.project", "q held")
MOVE = Operation("move", "integrate (continuation of closed loops)", "moves.following.move", "q v target spare")
MOVED = Operation(
    "moved",
    "simulate (one increment)",
    "steps.simulate.moved_at",
    "address:i0 calls:i1 plan:i2 ratios q x out spare held",
)
SIMULATE = Operation(
    "simulate",
    "simulate (loop over steps)",
    "steps.simulate.simulate_at",
    "address:i0 calls:i1 plan:i2 terms:i2 factors rows:f2 clock:i1 ratios lengths limits coupling energies "
    "asked state torque:f2 times:f2 positions:f2 velocities:f2 scratch:f2 samples:f2",
)
GROUND = Operation(
    "ground",
    "simulate (steps on a ground)",
    "steps.ground.ground_at",
    "work calls:i1 plan:i2 ratios terms:i2 factors rows:f2 coupling energies conditions:i1 limits "
    "q v middle free v_next a x other spare held mapped still "
    "where:i2 where_numbers places:f2 radii no_gram:f2 no_response:f2 no_velocities where_panel "
    "whole:i2 whole_numbers panel gram:f2 response:f2 positions:f2 velocities ends gaps last impulses "
    "near:i1 chosen:i1 A g guess answer B tried found change stay:i1 "
    "table:i2 bounds rates stop_gaps clock:i1 numbers torque:f2 samples",
    block="tables.ground.Step",
)

# --- batches: one state per row
ROWS = Operation(
    "rows",
    "batches (row by row)",
    "rows.rows.rows_at",
    "calls:i2 words:i2 moving:i2 status:b1 first:i0 last:i0",
    nogil=True,
)
OPENNESS = Operation("openness", "batches (loop residuals)", "rows.row_results.openness_at", "address:i0 q")
PLACEMENTS = Operation(
    "placements",
    "batch.forwardKinematics (placements)",
    "rows.row_results.placements_at",
    "address:i0 places:i2 fixed result",
)
PROJECTED = Operation(
    "projected",
    "batch.project (one row)",
    "rows.row_results.projected_at",
    "address:i0 close:i0 units:i2 terms:i2 numbers held q x result",
)
OPERATIONS = tuple(value for value in list(globals().values()) if isinstance(value, Operation))
"""All operations, in the order of their declaration."""

STATE_FUNCTIONS = (
    Function("rnea", RNEA, "q v a [fext]", "tau", "tau"),
    Function("aba", ABA, "q v tau [fext]", "ddq", "ddq"),
    Function("crba", CRBA, "q", "M", "M"),
    Function("computeMinverse", MINVERSE, "q", "Minv", "Minv"),
    Function("nonLinearEffects", RNEA, "q v 0", "nle", "nle"),
    Function("computeGeneralizedGravity", RNEA, "q 0 0", "g", "g"),
    Function("computeStaticTorque", RNEA, "q 0 0 fext", "tau", "forced"),
    Function("energies", ENERGY, "q v", "kinetic_energy potential_energy", "energy", called=False),
    Function("computeKineticEnergy", ENERGY, "q v", "kinetic_energy", "energy", traced=False),
    Function("computePotentialEnergy", ENERGY, "q 0", "potential_energy", "energy", traced=False),
    Function("computeMechanicalEnergy", ENERGY, "q v", "mechanical_energy", "energy", traced=False),
    Function("computeCoriolisMatrix", RNEA_DERIVATIVES, "q v 0", "C", "rates"),
    Function("computeRNEADerivatives", RNEA_DERIVATIVES, "q v a [fext]", "dtau_dq dtau_dv M", "rates"),
    Function("computeABADerivatives", ABA_DERIVATIVES, "q v tau [fext]", "ddq_dq ddq_dv Minv", "rates"),
    Function("computeGeneralizedGravityDerivatives", RNEA_DERIVATIVES, "q 0 0", "dg_dq", "rates"),
    Function("computeStaticTorqueDerivatives", RNEA_DERIVATIVES, "q 0 0 fext", "dtau_dq", "rates"),
    Function(
        "computeCentroidalDynamicsDerivatives",
        RNEA_DERIVATIVES,
        "q v a",
        "dh_dq dhdot_dq dhdot_dv dhdot_da",
        "rates",
        traced=False,
    ),
    Function("computeJointTorqueRegressor", REGRESSOR, "q v a", "torque", "regressor", traced=False),
    Function("computeStaticRegressor", ENERGY_REGRESSORS, "q", "static", "regressor", traced=False),
    Function("computeKineticEnergyRegressor", ENERGY_REGRESSORS, "q v", "kinetic", "regressor", traced=False),
    Function("computePotentialEnergyRegressor", ENERGY_REGRESSORS, "q", "potential", "regressor", traced=False),
)
"""Functions of a state (q, v, a or tau) whose results are arrays or numbers."""
STATE_FUNCTIONS_BY_NAME = {x.name: x for x in STATE_FUNCTIONS}
DIRECT_FUNCTIONS = tuple(x for x in STATE_FUNCTIONS if x.called and x.operation.group == "data")
"""Functions for which a typical call only runs one kernel."""

LOOP_FUNCTIONS = (
    Function("move", MOVE, "", "", ""),
    Function("project", PROJECT, "", "", ""),
    Function("coupling", COUPLING, "q v", "", ""),
    Function("coupling_rate", COUPLING, "q v", "", ""),
    Function("openness", OPENNESS, "q", "", ""),
)
"""Functions for closed loops that only this package calls. ``coupling_rate`` computes G and its time derivative."""

TRACEABLE_FUNCTIONS = (
    *(Traceable(x.name, x.inputs, forced=x.forced, dynamic=True) for x in STATE_FUNCTIONS if x.traced),
    Traceable("constraintDynamics", ("q", "v", "tau"), about="contacts", dynamic=True),
    Traceable("impulseDynamics", ("q", "v"), about="contacts", dynamic=True),
    Traceable("coupling_jacobian", ("q",)),
    Traceable("coupling_bias", ("q", "v")),
    Traceable("framesForwardKinematics", ("q",), about="frames"),
    Traceable("computeFrameJacobian", ("q",), about="frames"),
    Traceable("getFrameVelocity", ("q", "v"), about="frames"),
    Traceable("getFrameAcceleration", ("q", "v", "a"), about="frames"),
    Traceable("getFrameVelocityDerivatives", ("q", "v"), about="frames"),
    Traceable("getFrameAccelerationDerivatives", ("q", "v", "a"), about="frames"),
    Traceable("inverse_operational_inertia", ("q",), about="frames"),
    Traceable("centerOfMass", ("q",)),
    Traceable("jacobianCenterOfMass", ("q",)),
    Traceable("computeCentroidalMomentum", ("q", "v")),
    Traceable("computeCentroidalMomentumTimeVariation", ("q", "v", "a")),
    Traceable("getCenterOfMassVelocityDerivatives", ("q", "v")),
    Traceable("computeCentroidalMapTimeVariation", ("q", "v")),
    Traceable("computeCentroidalMap", ("q",)),
    Traceable("computeCentroidalDynamicsDerivatives", ("q", "v", "a")),
    Traceable("integrate", ("q", "v")),
    Traceable("tangent", ("q",)),
)
"""Functions that ``pc.trace`` accepts. ``compiler.tracing.functions`` contains their implementations."""
