"""Layout of the three tables of a model: ``index`` (int64), ``params`` (float64, constant) and ``work`` (float64).

``index`` has shape (rows, ROW_WIDTH). Row 0 is the header and also represents the universe as a body. Rows 1 to
``bodies`` are the bodies; the clusters and the lists follow. The named tuples below define the columns of each kind of
row. ``params`` and ``work`` are flat arrays. Body ``b`` uses ``BODY_PARAMS`` entries of ``params`` starting at
``b * BODY_PARAMS``, and ``BODY_WORK`` entries of ``work`` starting at ``b * BODY_WORK``. Quantities of variable size
follow; ``index`` contains their offsets (fields named ``at_...``). A comment that starts with "params:" or "work:"
names the table to which an offset refers. ``views`` reads rows of ``index``; ``workspace`` reads and writes quantities
of ``work``.

The frame of a body with a joint of one degree of freedom has the joint axis as its z axis. All quantities in ``work``
use the axes and the origin of one common frame, "the world". This frame is the universe or, for bodies below a free
flyer on the universe, the frame of the free flyer. The pose of a free flyer then enters only through gravity. Units are
SI (m, kg, s, rad). A spatial motion is [linear; angular] and a spatial force [force; moment], each of shape (6,).
"""

from typing import Final, NamedTuple

ROW_WIDTH: Final = 16  # a power of two, because every read of the index multiplies by it
CODE: Final = ROW_WIDTH - 1  # column in row 0 of a request table: address of the machine code for the request, or 0
CODE_OF_RATES: Final = ROW_WIDTH - 2  # like CODE, for the derivatives of the request


class Header(NamedTuple):
    """Header row."""

    bodies: int  # number of bodies, which are rows 1..bodies
    cluster0: int  # rows of clusters are cluster0..cluster1-1, depth first
    cluster1: int
    nq: int
    nv: int
    rotor0: int  # first row of Rotor; only external forces on lumped rotors need these rows
    rotor1: int
    njoints: int
    nv_tree: int
    ground0: int  # first row of Ground; only sums over the robot, such as its momentum, need these rows
    ground1: int
    prepared: int  # work: q of the last computation of G, shape (nq,); see ``variations.coupling``


class Body(NamedTuple):
    """Row of a body."""

    parent: int
    kind: int  # kind of the body's joint
    iq: int  # first index in q
    ndof: int
    at_S: int  # work: motion subspace S, shape (ndof, 6), row-major
    at_K: int  # work: K, shape (nk, 6): motion relative to the output body per unit independent velocity; see ``mask``
    at_G: int  # work: rows of G, shape (ndof, nk); in a LOOP cluster, the bias g and the velocities G v follow
    joint: int  # joint of the tree that moves the body; -1 for an intermediate body of a composed joint
    cluster: int
    root: int  # the child of the universe among the body's ancestors
    unit: int  # index in v of the joint's velocity if the joint is independent and has one degree of freedom; else -1
    mask: int  # bit k is set if column k of K moves the body; other columns are invalid, because bodies can share K
    shuffle: int  # kind of the body's ROTATION. 1: identity, 2: axes (y z x), 3: axes (z x y), 0: any other rotation
    sole: int  # ``unit`` if the cluster is SINGLE, else -1
    which: int  # first column of the cluster that is a velocity of the body's joint; -1 if the joint is dependent


class Cluster(NamedTuple):
    """Row of a cluster."""

    kind: int
    first: int  # rows of its bodies are first..last-1, parents first
    last: int
    nk: int  # number of independent velocities
    column: int  # SINGLE and FREE: first index in v. Other kinds: first row of the cluster's list of indices in v
    out: int  # output body: the body to which the cluster is attached
    at_spin: int  # params (SINGLE, FREE) or work: spin momentum on the output body per unit velocity, (nk, 3); -1: none
    at_E: int  # params (SINGLE, FREE) or work: inertia E of spin elements and armature, shape (nk, nk)
    carrier0: int  # rows of Carrier are carrier0..carrier1-1
    carrier1: int
    at_work: int  # work: variable-size quantities, see ``workspace``; unused for SINGLE and FREE
    head: int  # LOOP: row of the cluster's Head
    smallest: int  # params: D counts as singular if a pivot is below this bound
    above: int  # row of the cluster that contains the output body; 0 for the universe
    until: int  # inward elimination that starts at this cluster stops before this row: ``above`` of the next row, or 0
    at_rates: int  # offset in ``rates``, see ``variations_layout``


class Head(NamedTuple):
    """Row of a LOOP cluster's loop-closure constraints; the first columns of K belong to the dependent velocities."""

    nd: int  # number of dependent velocities
    nr: int  # number of constraint equations; if it exceeds nd, independent equations are chosen at each state
    at: int  # work: offset of the block ``sizes.Block``, see ``views.block``
    closure0: int  # rows of Closure are closure0..closure1-1
    closure1: int
    velocity0: int  # first row of Velocity: the dependent velocities in order, then the remaining velocities
    velocity1: int
    follower0: int  # first row of Follower
    follower1: int
    element0: int  # first row of Element
    element1: int
    rod0: int  # first row of Rod
    rod1: int
    on_bodies: int  # 1 if at least one closure constrains bodies; 0 if all closures constrain joint coordinates


class Velocity(NamedTuple):
    """Row of a velocity in a LOOP cluster; each derivative is an array with one number per independent velocity."""

    at_G: int  # work: row of G, shape (nk,)
    at_bias: int  # work: entry of the bias g
    at_rate: int  # work: entry of G v
    body: int  # body that the velocity moves; -1 for a spinning rotor
    iv: int  # index in the v of the tree
    column: int  # column of the cluster if the velocity is independent, else -1
    iq: int  # first index in q of the joint
    nq: int
    at_acceleration: int  # work: entry of G a + g
    at_torque: int  # work: torque of the joint, including the torques of the joints and rotors that it drives
    at_dG: int  # work: dG, the derivative of G v with respect to q, shape (nk,)
    at_ddG: int  # work: ddG, the derivative of G a + g with respect to q, shape (nk,)
    at_true: int  # work: time derivative of the row of G, shape (nk,); ``coupling_rates`` compares it with dG


class Closure(NamedTuple):
    """Row of a loop-closure constraint."""

    form: int
    row0: int  # index of its first constraint equation in the cluster
    rows: int  # number of constraint equations
    at: int  # params: offset of the closure's constants
    part0: int  # FRAMES, ROD: first row of OnPath. HARMONIC: first row of OnAngle. Other forms: first row of OnJoint
    part1: int
    a: int  # first of the two constrained bodies a and b
    b: int
    turn: int  # FRAMES: how the rotation is measured, TURN_NONE to TURN_UNIVERSAL
    term0: int  # HARMONIC: first row of Term
    term1: int
    angles: int  # HARMONIC: number of angles
    scratch: int  # work: HARMONIC: see ``sizes.HarmonicScratch``; CALLED, SUPPLIED: the Jacobian, then the Hessian
    functions: int  # CALLED: row of Functions


class Functions(NamedTuple):
    """Row of the addresses of a user-compiled function and its derivatives; the address of a missing function is 0."""

    phi: int
    jacobian: int
    hessian: int
    third: int


class OnPath(NamedTuple):
    """Row of a velocity on the path between the two bodies of a closure."""

    column: int
    at_S: int  # work: motion subspace of the velocity, shape (6,)
    sign: int  # 1 if the velocity moves body b, -1 if it moves body a
    above: int  # the body that carries the velocity's joint; 0 outside the cluster


class OnJoint(NamedTuple):
    """Row of a joint whose coordinates are constrained by a closure."""

    column: int
    iq: int
    velocity: int  # row of Velocity for this joint
    nq: int


class OnAngle(NamedTuple):
    """Row of a joint that contributes to an angle of a harmonic closure; the angle is a weighted sum of coordinates."""

    angle: int  # work: offset of the angle's block
    slope: int  # work: derivative of an equation with respect to the angle, or rate of the angle
    at: int  # params: weight of the joint
    column: int
    iq: int
    velocity: int  # row of Velocity for this joint


class Term(NamedTuple):
    """Row of a harmonic term: a coefficient times a product of one to three factors, each a function of an angle."""

    row: int
    at: int  # params: coefficient of the term
    factors: int  # number of factors, 1 to 3
    factor0: int  # work: first factor, then its first two derivatives
    slope0: int  # work: derivative of an equation with respect to the angle of the first factor, or rate of this angle
    factor1: int
    slope1: int
    factor2: int
    slope2: int


class Follower(NamedTuple):
    """Row of a joint that follows other joints at constant ratios."""

    velocity: int  # row of Velocity for this joint
    share0: int  # rows of Share are share0..share1-1
    share1: int


class Share(NamedTuple):
    """Row of a velocity that drives another velocity or a rotor."""

    velocity: int  # row of Velocity
    at: int  # params: ratio


class Element(NamedTuple):
    """Row of an armature or spin element of a LOOP cluster."""

    at: int  # params: axial inertia [kg m^2], then the axis in the carrier's frame (3)
    share0: int  # rows of Share are share0..share1-1
    share1: int
    at_spin: int  # work: spin momenta on the carrier, shape (nk, 3); -1 for armature and for rotors on the universe
    at_row: int  # work: speed per unit velocity (nk), then its derivatives like dG, ddG and the true rate of G
    carrier: int  # body that carries the rotor; 0 for armature and for rotors on the universe


class Rod(NamedTuple):
    """Row of a slender rod with mass."""

    at: int  # params: points in the frames of a and b (3 each), then two thirds of the rod's mass
    a: int
    b: int
    middle: int  # the body of kind MIDDLE, which has two thirds of the rod's mass


class Carrier(NamedTuple):
    """Row of a body that is inside a cluster and carries spin elements."""

    body: int
    at_spin: int  # work: like ``Cluster.at_spin``, but for this body


class Rotor(NamedTuple):
    """Row of a rotor of the tree that is lumped into its carrier."""

    carrier: int
    iq: int
    kind: int
    joint: int
    at: int  # params: rotation (9) and position (3) in the carrier's frame, then ALIGN (9)
    column: int  # first row of the rotor's list of indices in v
    nk: int
    at_G: int  # work: row of G for the rotor, shape (nk,)
    cluster: int


class Ground(NamedTuple):
    """Row of an independent velocity that drives rotors on the universe at constant ratios."""

    iv: int
    at: int  # params: momentum per unit velocity (3) [kg m^2]


class Entry(NamedTuple):
    """Row of a list; it contains one index in v."""

    iv: int


# Kinds of clusters.
SINGLE: Final = 0  # one joint with one degree of freedom, and spin elements only on the parent body
FREE: Final = 1  # a free flyer on the universe
GENERAL: Final = 2  # any other cluster whose G is constant
LOOP: Final = 3  # a cluster with loop-closure constraints, whose G depends on q

# Forms of closures.
FRAMES: Final = 0
ROD: Final = 1
HARMONIC: Final = 2
PROPORTIONAL: Final = 3
CALLED: Final = 4  # a function compiled by the user
SUPPLIED: Final = 5  # a Python function; its derivatives are copied into work before the kernel runs

# How a FRAMES closure measures the rotation between its frames.
TURN_NONE: Final = 0
TURN_FULL: Final = 1
TURN_AXIS: Final = 2
TURN_UNIVERSAL: Final = 3

# The block of an angle in a harmonic closure contains sin, cos, -sin, -cos, angle, 1, 0, 0. Each factor (sin,
# cos, angle, 1) is followed by its first and second derivatives. SIN to ONE are the offsets of the factors.
SIN: Final = 0
COS: Final = 1
IDENTITY: Final = 4
ONE: Final = 5
ANGLE_SCRATCH: Final = 8

# Kinds of joints.
REVOLUTE: Final = 0
CONTINUOUS: Final = 1  # q is (cos, sin)
PRISMATIC: Final = 2
HELICAL: Final = 3
SPHERICAL: Final = 4  # q is the quaternion x y z w
PLANAR: Final = 5  # q is x y cos sin; the velocity is in body axes
FREEFLYER: Final = 6  # q is x y z, then a quaternion; the velocity is in body axes
MIDDLE: Final = 7  # a body without a joint: two thirds of a rod's mass at its midpoint

# Reference frames, numbered as in Pinocchio.
WORLD: Final = 0
LOCAL: Final = 1
LOCAL_WORLD_ALIGNED: Final = 2

# Offsets in the params of a body. Inertias are in [kg m^2], masses in [kg].
ROTATION: Final = 0  # size 9: rotation of the joint frame at q = 0 relative to the parent's frame
POSITION: Final = 9  # size 3: position of the joint frame in the parent's frame
MASS: Final = 12
LEVER: Final = 13  # size 3: centre of mass
INERTIA: Final = 16  # size 6: inertia about the centre of mass
PITCH: Final = 22  # pitch of a helical joint [m/rad]
ALIGN: Final = 23  # size 9: rotation from this frame to the joint frame of the tree
BODY_PARAMS: Final = 32
# Offsets in the params of body 0, the universe.
MINUS_GRAVITY: Final = 0  # size 3 [m/s^2]
ORIGIN: Final = 3  # size 3: origin of the world in the universe
GROUND_MASS: Final = 7  # mass fixed to the universe that is not part of a body
GROUND_MOMENT: Final = 8  # size 3: first moment of GROUND_MASS about the origin
POTENTIAL: Final = 6  # potential energy [J] of the lumped rotors that are fixed to the universe

# Offsets in the work of a body.
W_POSE: Final = 0  # rotation (9), then position (3)
W_S: Final = 12  # size 6: motion subspace S of a joint of one degree of freedom
W_VELOCITY: Final = 18  # size 6
W_ACCELERATION: Final = 24  # size 6
W_FORCE: Final = 30  # size 6
W_INERTIA: Final = 36  # size 21: articulated inertia, or size 10: inertia of a rigid body
W_MOMENTUM: Final = W_INERTIA + 10  # size 6, after the inertia of a rigid body
W_SPIN: Final = 57  # size 3: spin momentum on the parent per unit velocity (SINGLE)
W_OWN: Final = 60  # size 1: own_torque, spin_bias or inverse_D of ``workspace``, depending on the algorithm
W_UDINV: Final = 61  # size 6: U D^-1
W_TURN: Final = W_UDINV  # size 2: sine and cosine of the joint angle, until the cluster is eliminated
W_INERTIA_RATE: Final = W_UDINV  # size 6: time derivative of the rotational inertia
W_DINV_U: Final = 67  # size 1: D^-1 u
BODY_WORK: Final = 68

# Status of a row of a batch.
ROW_GOOD: Final = 0
ROW_OPEN: Final = 1
ROW_SINGULAR: Final = 2
ROW_NOT_FINITE: Final = 3

# Return codes of kernels. A positive code is the row of a cluster with singular D. A code below -1 is minus the row of
# a cluster with singular K_d.
OK: Final = 0
WRONG_SIZE: Final = -1

# Bounds of the residuals of loop-closure constraints, scaled and divided by max(1, |q| / 100). TOLERANCE is half of the
# documented bound, because the kernels use the scales of sample poses, which can exceed those of the present pose.
TOLERANCE: Final = 5e-14
ROUNDING: Final = 1e-11  # residual that is accepted if rounding errors stop Newton's method
OPEN: Final = 1e-6  # residual from which a loop counts as open
# A loop counts as singular if the condition number of the dependent columns reaches this limit: half of the digits are
# lost, and no machine could bear the forces.
CONDITION_LIMIT: Final = 1e8
