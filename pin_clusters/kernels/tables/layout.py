"""Layout of the three tables of a model: ``index`` (int64), ``params`` (float64, constant) and ``work`` (float64).

``index`` has shape (rows, ROW_WIDTH). Row 0 is the header and also stands for the universe as a body; rows 1 to
``bodies`` are the bodies; the clusters and the lists follow. The named tuples below name the columns of each kind of
row. ``params`` and ``work`` are flat: body ``b`` owns ``BODY_PARAMS`` entries of ``params`` from ``b * BODY_PARAMS`` on
and ``BODY_WORK`` entries of ``work`` from ``b * BODY_WORK`` on. Quantities of variable size follow, at offsets that
``index`` contains (fields named ``at_...``). A comment "params:" or "work:" names the table that an offset refers to.
``views`` reads rows of ``index``; ``workspace`` reads and writes quantities of ``work``.

The frame of a body with a joint of one degree of freedom has the joint axis as its z axis. All quantities in ``work``
use the axes and the origin of one common frame, "the world" below: the universe or, for bodies below a free flyer on
the universe, the frame of the free flyer. The pose of a free flyer then enters through gravity alone. Units are SI (m,
kg, s, rad). A spatial motion is [linear; angular] and a spatial force [force; moment], each of shape (6,).
"""

from typing import Final, NamedTuple

ROW_WIDTH: Final = 16  # a power of two, because every read of the index multiplies by it
CODE: Final = ROW_WIDTH - 1  # column of row 0 of a request table: address of the machine code for the request, or 0
CODE_OF_RATES: Final = ROW_WIDTH - 2  # the same for the code of its derivatives


class Header(NamedTuple):
    """Row 0."""

    bodies: int  # number of bodies, which are rows 1..bodies
    cluster0: int  # clusters are rows cluster0..cluster1-1, depth first
    cluster1: int
    nq: int
    nv: int
    rotor0: int  # rows of Rotor: spin elements that are bodies of the tree; only external forces need them
    rotor1: int
    njoints: int
    nv_tree: int
    ground0: int  # rows of Ground; only sums over the robot, such as its momentum, need them
    ground1: int
    prepared: int  # work: q for which the loops were closed, shape (nq,); ``variations.coupling`` compares it with q


class Body(NamedTuple):
    """Row of a body."""

    parent: int
    kind: int  # kind of its joint
    iq: int  # first index in q
    ndof: int
    at_S: int  # work: motion subspace S, shape (ndof, 6) by rows
    at_K: int  # work: K, motion relative to the output body per independent velocity, shape (nk, 6); valid only in the
    # columns that move the body, as ``mask`` says, because bodies may share one K
    at_G: int  # work: rows of G, shape (ndof, nk); in a LOOP, the bias g and the velocities G v follow
    joint: int  # joint of the tree that moves this body, -1 for an intermediate body of a composed joint
    cluster: int
    root: int  # the child of the universe in its chain of ancestors
    unit: int  # index in v of its degree of freedom if that is one independent velocity, else -1
    mask: int  # bit k is set if column k of the cluster moves this body
    shuffle: int  # kind of its ROTATION. 1: identity, 2: axes (y z x), 3: axes (z x y), 0: any other
    sole: int  # ``unit`` if its cluster is SINGLE, else -1
    which: int  # first column of its cluster that is a velocity of its joint, -1 if the joint is dependent


class Cluster(NamedTuple):
    """Row of a cluster."""

    kind: int
    first: int  # its bodies are rows first..last-1, parents first
    last: int
    nk: int  # number of independent velocities
    column: int  # SINGLE and FREE: first index in v. Other kinds: first row of its list of indices in v
    out: int  # output body: the body to which the cluster is attached
    at_spin: int  # spin momentum on the output body per unit velocity, shape (nk, 3); -1 if there is none
    at_E: int  # inertia E of spin elements and armature, shape (nk, nk); both in params for SINGLE and FREE, else in
    # work
    carrier0: int  # rows of Carrier
    carrier1: int
    at_work: int  # work: for all kinds but SINGLE and FREE, see ``workspace``
    head: int  # LOOP: row of Head
    smallest: int  # params: D counts as singular below this value
    above: int  # row of the cluster that contains the output body, 0 for the universe
    until: int  # row of the cluster above the next row's cluster, 0 for none. The passes inward can eliminate this
    # cluster and its ancestors up to there, because nothing else below them remains
    at_rates: int  # offset in ``rates``, see ``variations_layout``


class Head(NamedTuple):
    """Row of the loop-closure constraints of a LOOP cluster; columns of K: dependent velocities, then independent."""

    nd: int  # number of dependent velocities
    nr: int  # number of constraint equations; more than nd if the independent equations are chosen at each state
    at: int  # work: see ``views.block``
    closure0: int  # rows of Closure
    closure1: int
    velocity0: int  # rows of Velocity: the dependent velocities in order, then the remaining ones
    velocity1: int
    follower0: int  # rows of Follower
    follower1: int
    element0: int  # rows of Element
    element1: int
    rod0: int  # rows of Rod
    rod1: int
    on_bodies: int  # 1 if a closure constrains bodies, 0 if all of them constrain joint coordinates


class Velocity(NamedTuple):
    """Row of a velocity of a LOOP cluster; derivatives are taken along each independent velocity."""

    at_G: int  # work: its row of G, shape (nk,)
    at_bias: int  # work: its entry of g
    at_rate: int  # work: its entry of G v
    body: int  # -1 for a spinning rotor
    iv: int  # index in the v of the tree
    column: int  # column of the cluster if it is an independent velocity, else -1
    iq: int  # first index in q of its joint
    nq: int
    at_acceleration: int  # work: its entry of G a + g
    at_torque: int  # work: torque of its joint and of the joints and rotors that it drives
    at_dG: int  # work: dG, derivative of G v, shape (nk,)
    at_ddG: int  # work: ddG, derivative of G a + g, shape (nk,)
    at_true: int  # work: rate of change of its row of G, shape (nk,); differs from dG if velocities do not commute


class Closure(NamedTuple):
    """Row of a loop-closure constraint."""

    form: int
    row0: int  # its first constraint equation in the cluster
    rows: int  # number of constraint equations
    at: int  # params
    part0: int  # FRAMES, ROD: rows of OnPath. HARMONIC: rows of OnAngle. Other forms: rows of OnJoint
    part1: int
    a: int  # bodies
    b: int
    turn: int  # FRAMES: how the rotation is measured, TURN_...
    term0: int  # HARMONIC: rows of Term
    term1: int
    angles: int  # HARMONIC: number of angles
    scratch: int  # work: HARMONIC: see ``sizes.HarmonicRoom``. CALLED, SUPPLIED: Jacobian, Hessian
    functions: int  # CALLED: row of Functions


class Functions(NamedTuple):
    """Row of the addresses of a function and its derivatives that the user compiled; 0 for a missing one."""

    phi: int
    jacobian: int
    hessian: int
    third: int


class OnPath(NamedTuple):
    """Row of a velocity on the path between the two bodies of a closure."""

    column: int
    at_S: int  # work: its motion subspace, shape (6,)
    sign: int  # 1 if it moves b, -1 if it moves a
    above: int  # the body that carries its joint, 0 outside the cluster


class OnJoint(NamedTuple):
    """Row of a joint whose coordinates a closure constrains."""

    column: int
    iq: int
    velocity: int  # row of Velocity
    nq: int


class OnAngle(NamedTuple):
    """Row of a joint in an angle of a harmonic closure: the angle is a weighted sum of joint coordinates."""

    angle: int  # work: the block of the angle
    slope: int  # work: derivative or rate of the angle
    at: int  # params: weight of the joint
    column: int
    iq: int
    velocity: int  # row of Velocity


class Term(NamedTuple):
    """Row of a harmonic term: a coefficient times a product of one to three factors, functions of the angles."""

    row: int
    at: int  # params: its coefficient
    factors: int  # number of factors
    factor0: int  # work: the factor and its first two derivatives
    slope0: int  # work: derivative or rate of its angle
    factor1: int
    slope1: int
    factor2: int
    slope2: int


class Follower(NamedTuple):
    """Row of a joint that follows other joints at constant ratios."""

    velocity: int  # row of Velocity
    share0: int  # rows of Share
    share1: int


class Share(NamedTuple):
    """Row of a velocity that drives another velocity or a rotor."""

    velocity: int  # row of Velocity
    at: int  # params: ratio


class Element(NamedTuple):
    """Row of an armature or spin element of a LOOP cluster."""

    at: int  # params: axial inertia [kg m^2], axis in the frame of its carrier (3)
    share0: int  # rows of Share
    share1: int
    at_spin: int  # work: spin momenta of its carrier, shape (nk, 3); -1 for armature and rotors on the universe
    at_row: int  # work: its speed per unit velocity (nk), then the derivatives of the speed as dG, ddG and true rate
    carrier: int  # body, 0 for armature and rotors on the universe


class Rod(NamedTuple):
    """Row of a slender rod with mass."""

    at: int  # params: points in the frames of a and b (3 each), two thirds of the mass
    a: int
    b: int
    middle: int  # the body of kind MIDDLE that has two thirds of its mass


class Carrier(NamedTuple):
    """Row of a carrier of spin elements inside a cluster."""

    body: int
    at_spin: int  # work: as ``Cluster.at_spin``, on this body


class Rotor(NamedTuple):
    """Row of a rotor of the tree that is lumped into its carrier."""

    carrier: int
    iq: int
    kind: int
    joint: int
    at: int  # params: rotation (9) and position (3) in the frame of the carrier, ALIGN (9)
    column: int  # first row of its list of indices in v
    nk: int
    at_G: int  # work: its row of G, shape (nk,)
    cluster: int


class Ground(NamedTuple):
    """Row of the spin momentum, per unit of one velocity, of rotors on the universe with constant ratios."""

    iv: int
    at: int  # params: momentum (3) [kg m^2]


class Entry(NamedTuple):
    """Row of a list of indices in v."""

    iv: int


# kinds of clusters
SINGLE: Final = 0  # one joint of one degree of freedom, spin elements on its parent only
FREE: Final = 1  # a free flyer on the universe
GENERAL: Final = 2  # any other cluster with constant G
LOOP: Final = 3  # GENERAL with loop-closure constraints: G depends on q

# forms of closures
FRAMES: Final = 0
ROD: Final = 1
HARMONIC: Final = 2
PROPORTIONAL: Final = 3
CALLED: Final = 4  # a function that the user compiled
SUPPLIED: Final = 5  # a Python function: its derivatives are written to work before the kernel runs

# How a FRAMES closure measures the rotation between its frames.
TURN_NONE: Final = 0
TURN_FULL: Final = 1
TURN_AXIS: Final = 2
TURN_UNIVERSAL: Final = 3

# The block of an angle of a harmonic closure is sin cos -sin -cos angle 1 0 0. These are the offsets of the factors of
# harmonic terms; the first two derivatives follow each factor.
SIN: Final = 0
COS: Final = 1
IDENTITY: Final = 4
ONE: Final = 5
ANGLE_SCRATCH: Final = 8

# kinds of joints
REVOLUTE: Final = 0
CONTINUOUS: Final = 1  # q is (cos, sin)
PRISMATIC: Final = 2
HELICAL: Final = 3
SPHERICAL: Final = 4  # q is the quaternion x y z w
PLANAR: Final = 5  # q is x y cos sin; velocity in the body's axes
FREEFLYER: Final = 6  # q is x y z, quaternion; velocity in the body's axes
MIDDLE: Final = 7  # a body without a joint: the mass in the middle of a rod

# reference frames, as Pinocchio numbers them
WORLD: Final = 0
LOCAL: Final = 1
LOCAL_WORLD_ALIGNED: Final = 2

# params of a body; inertias are [kg m^2], masses [kg]
ROTATION: Final = 0  # 9: of the joint frame at q = 0 in the parent's frame
POSITION: Final = 9  # 3
MASS: Final = 12
LEVER: Final = 13  # 3: centre of mass
INERTIA: Final = 16  # 6: about the centre of mass
PITCH: Final = 22  # of a helical joint [m/rad]
ALIGN: Final = 23  # 9: rotation from this frame to the joint frame of the tree
BODY_PARAMS: Final = 32
# params in the record of body 0, the universe
MINUS_GRAVITY: Final = 0  # 3 [m/s^2]
ORIGIN: Final = 3  # 3: origin of the world in the universe
GROUND_MASS: Final = 7  # mass fixed to the universe that no body contains; its first moment about the origin follows
GROUND_MOMENT: Final = 8  # 3
POTENTIAL: Final = 6  # potential energy [J] of the lumped rotors that are fixed to the universe

# work of a body
W_POSE: Final = 0  # rotation (9), position (3)
W_S: Final = 12  # 6
W_VELOCITY: Final = 18  # 6
W_ACCELERATION: Final = 24  # 6
W_FORCE: Final = 30  # 6
W_INERTIA: Final = 36  # 21: articulated inertia; or 10: inertia of a rigid body
W_MOMENTUM: Final = W_INERTIA + 10  # 6: shares the record with the inertia of a rigid body
W_SPIN: Final = 57  # 3: spin momentum on the parent per unit velocity (SINGLE)
W_OWN: Final = 60  # 1: depends on the algorithm: torque of spin and armature, h . alpha at a = 0, or 1 / D
W_UDINV: Final = 61  # 6
W_TURN: Final = W_UDINV  # 2: sine and cosine of its joint, until its cluster is eliminated
W_INERTIA_RATE: Final = W_UDINV  # 6
W_DINV_U: Final = 67  # 1
BODY_WORK: Final = 68

# status of a row of a batch
ROW_GOOD: Final = 0
ROW_OPEN: Final = 1
ROW_SINGULAR: Final = 2
ROW_NOT_FINITE: Final = 3

# Return codes of kernels. A positive code is the row of a cluster with singular D; a code below -1 is minus the row of
# a cluster with singular K_d.
OK: Final = 0
WRONG_SIZE: Final = -1

# Residuals of loop-closure constraints, scaled and divided by max(1, |q| / 100). Up to TOLERANCE a loop is closed; this
# is half of the documented bound, because the scales stem from sample poses.
TOLERANCE: Final = 5e-14
ROUNDING: Final = 1e-11  # accepted if rounding errors stop Newton's method
OPEN: Final = 1e-6  # a loop counts as open from here on
# Condition of the dependent columns from which on a loop counts as singular: half of the digits are lost, and no
# machine would bear the forces.
CONDITION_LIMIT: Final = 1e8
