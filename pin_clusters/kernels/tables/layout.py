"""Where things are in the three tables of a model: ``index`` (whole numbers), ``params`` and ``work`` (floats).

``index`` has one row per item, named below: row 0 the header (and the universe as a body), rows 1..bodies the bodies,
then the clusters, then lists. ``params`` and ``work`` are flat; body ``b`` owns the ``BODY_PARAMS`` numbers from ``b *
BODY_PARAMS`` on, and the ``BODY_WORK`` numbers from ``b * BODY_WORK`` on; what has no fixed size stands behind them, at
offsets kept in ``index`` (fields named ``at_...``). ``views`` reads rows, ``workspace`` the rest.

A body's frame is turned so that the axis of a joint of one degree of freedom is its z axis. Quantities in ``work``
have one orientation and origin, those of the universe or, below a free flyer on it, those of the free flyer: its pose
then enters through gravity alone.
"""

from typing import Final, NamedTuple

ROW_WIDTH: Final = 16  # a power of two: every read of the index multiplies by it
CODE: Final = ROW_WIDTH - 1  # in the first row of what a kernel is asked: address of code for that, or 0
CODE_OF_RATES: Final = ROW_WIDTH - 2  # and of its derivatives


class Header(NamedTuple):
    """Row 0."""

    bodies: int  # they are rows 1..bodies
    cluster0: int  # clusters are rows cluster0..cluster1-1, depth first
    cluster1: int
    nq: int
    nv: int
    rotor0: int  # spin elements that are bodies of the tree: only external forces need them
    rotor1: int
    njoints: int
    nv_tree: int
    ground0: int  # momenta of rotors on the universe, whose ratios are constant: only sums over the robot need them
    ground1: int
    prepared: int  # work: q where loops stand, of those who keep that


class Body(NamedTuple):
    """Row of a body."""

    parent: int
    kind: int  # of its joint
    iq: int  # first index in q
    ndof: int
    at_S: int  # work: motion subspace, 6 numbers per degree of freedom, in the world
    at_K: int  # work: K, motion relative to the output body per independent velocity, 6 numbers per column; read only
    # columns that move the body, as ``mask`` says: bodies may share one K
    at_G: int  # work: rows of G, one per degree of freedom; LOOP: then their bias g, then their velocities G v
    joint: int  # joint of the tree whose body this is, -1 for an intermediate body of a joint
    cluster: int
    root: int  # the body on the universe from which it hangs
    unit: int  # index in v of its one degree of freedom where that is an independent one; else -1
    mask: int  # bit k is set if column k of the cluster moves this body
    shuffle: int  # its ROTATION is 1: the identity, 2: (y z x), 3: (z x y), 0: anything else
    sole: int  # ``unit`` if its cluster is SINGLE, else -1
    which: int  # the first column of its cluster that is a velocity of its joint, -1 if the joint follows others


class Cluster(NamedTuple):
    """Row of a cluster."""

    kind: int
    first: int  # bodies first..last-1, parents first
    last: int
    nk: int  # independent velocities
    column: int  # SINGLE and FREE: first index in v. Others: first row of the list of indices in v
    out: int  # output body: it hangs from this one
    at_spin: int  # spin momentum per unit velocity on the output body, 3 per column; -1 if there is none
    at_E: int  # nk x nk inertia of spin elements and armature; both in params for SINGLE and FREE, else in work
    carrier0: int  # rows of the carriers inside the cluster
    carrier1: int
    at_work: int  # work: of all kinds but SINGLE and FREE, see ``workspace``
    head: int  # LOOP: its row of closures
    smallest: int  # params: the smallest D
    above: int  # row of the cluster of its output body, 0 for the universe
    until: int  # row of the cluster above the next one, 0 for none: all below it on the way up have no more to come
    at_rates: int  # rates, see ``variations_layout``


class Head(NamedTuple):
    """Row of the closures of a LOOP cluster; columns of its equations: dependent velocities, then the others."""

    nd: int  # dependent velocities
    nr: int  # rows; more than nd if the independent ones are chosen per state
    at: int  # work: see ``views.block``
    closure0: int
    closure1: int
    velocity0: int  # rows of all velocities: the dependent ones in order, then the others
    velocity1: int
    follower0: int  # rows of joints that follow others at a constant ratio
    follower1: int
    element0: int  # rows of armature and spin elements
    element1: int
    rod0: int  # rows of rods with mass
    rod1: int
    on_bodies: int  # 1 if a closure ties bodies, not only coordinates of joints


class Velocity(NamedTuple):
    """Row of a velocity of a LOOP cluster."""

    at_G: int  # work: its row of G
    at_bias: int  # work
    at_rate: int  # work
    body: int  # -1 for a rotor that spins
    iv: int  # index in the tree's v
    column: int  # which independent velocity of the cluster it is, else -1
    iq: int  # first index in q of its joint
    nq: int
    at_acceleration: int  # work
    at_torque: int  # work: of its joint, with that of what it drives
    at_dG: int  # work: derivative of its rate, G v, along each independent velocity
    at_ddG: int  # work: the same of its acceleration
    at_true: int  # work: rate of its row of G; another one than dG where velocities do not commute


class Closure(NamedTuple):
    """Row of a closure."""

    form: int
    row0: int  # its first row among the cluster's
    rows: int
    at: int  # params
    part0: int  # on bodies: rows of the velocities on its path. On joints: rows of its joints, HARMONIC: of OnAngle
    part1: int
    a: int  # bodies
    b: int
    turn: int  # FRAMES: how the rotation is measured
    term0: int  # HARMONIC: rows of terms
    term1: int
    angles: int  # HARMONIC: number of angles
    room: int  # work: HARMONIC: see ``sizes.HarmonicRoom``. CALLED, SUPPLIED: Jacobian, Hessian
    functions: int  # CALLED: row of addresses


class Functions(NamedTuple):
    """Row of addresses of a function and its derivatives that the user compiled; 0 where one is not given."""

    phi: int
    jacobian: int
    hessian: int
    third: int


class OnPath(NamedTuple):
    """Row of a velocity on the path between two bodies that a closure ties."""

    column: int
    at_S: int  # work: its motion subspace
    sign: int  # 1 if it moves b, -1 if it moves a
    above: int  # the body that carries its joint, 0 outside the cluster


class OnJoint(NamedTuple):
    """Row of a joint that a closure ties."""

    column: int
    iq: int
    velocity: int  # row
    nq: int


class OnAngle(NamedTuple):
    """Row of a joint in an angle of a harmonic closure."""

    angle: int  # work: the block of the angle
    slope: int  # work: of the angle, a derivative or a rate
    at: int  # params: what the joint is multiplied by
    column: int
    iq: int
    velocity: int  # row


class Term(NamedTuple):
    """Row of a harmonic term: a product of one to three factors of angles."""

    row: int
    at: int  # params: its coefficient
    factors: int  # how many
    factor0: int  # work: the factor and its first two derivatives
    slope0: int  # work: of its angle
    factor1: int
    slope1: int
    factor2: int
    slope2: int


class Follower(NamedTuple):
    """Row of a joint that follows others."""

    velocity: int  # row
    share0: int
    share1: int


class Share(NamedTuple):
    """Row of a velocity that drives another one, or a rotor."""

    velocity: int  # row
    at: int  # params: its coefficient


class Element(NamedTuple):
    """Row of an armature or spin element of a LOOP cluster."""

    at: int  # params: inertia, axis on the carrier
    share0: int
    share1: int
    at_spin: int  # work: spin momenta of its carrier, -1 for armature and rotors on the universe
    at_row: int  # work: its speed per unit velocity; then derivatives of it, as dG, ddG and the true rate
    carrier: int  # body, 0 for armature and rotors on the universe


class Rod(NamedTuple):
    """Row of a rod with mass."""

    at: int  # params: points in a and b (3 each), two thirds of the mass
    a: int
    b: int
    middle: int  # the body that stands for two thirds of its mass


class Carrier(NamedTuple):
    """Row of a carrier of spin elements inside a cluster."""

    body: int
    at_spin: int  # work: as that of the cluster


class Rotor(NamedTuple):
    """Row of a spinning rotor of the tree."""

    carrier: int
    iq: int
    kind: int
    joint: int
    at: int  # params: rotation (9) and position (3) in the carrier, alignment (9)
    column: int  # first row of the list of indices in v
    nk: int
    at_G: int  # work: its row of G
    cluster: int


class Ground(NamedTuple):
    """Row of the momentum of rotors on the universe per unit of a velocity."""

    iv: int
    at: int  # params


class Entry(NamedTuple):
    """Row of a list of indices in v."""

    iv: int


# kinds of clusters
SINGLE: Final = 0  # one joint of one degree of freedom, spin elements on its parent only
FREE: Final = 1  # a free flyer on the universe
GENERAL: Final = 2
LOOP: Final = 3  # GENERAL, with closures: G depends on q

# forms of closures
FRAMES: Final = 0
ROD: Final = 1
HARMONIC: Final = 2
PROPORTIONAL: Final = 3
CALLED: Final = 4  # compiled by the user
SUPPLIED: Final = 5  # a Python function: its derivatives are written to work before the kernel runs

# how the rotation between two frames is measured
TURN_NONE: Final = 0
TURN_FULL: Final = 1
TURN_AXIS: Final = 2
TURN_UNIVERSAL: Final = 3

# factors of harmonic terms: where they begin in the block of an angle, which is sin cos -sin -cos angle 1 0 0; each is
# followed by its derivatives
SIN: Final = 0
COS: Final = 1
IDENTITY: Final = 4
ONE: Final = 5
ANGLE_ROOM: Final = 8

# kinds of joints
REVOLUTE: Final = 0
CONTINUOUS: Final = 1  # q is (cos, sin)
PRISMATIC: Final = 2
HELICAL: Final = 3
SPHERICAL: Final = 4  # quaternion x y z w
PLANAR: Final = 5  # x y cos sin, velocity in the body's axes
FREEFLYER: Final = 6  # x y z, quaternion; velocity in the body's axes
MIDDLE: Final = 7  # no joint: stands for the mass in the middle of a rod

# reference frames, as Pinocchio numbers them
WORLD: Final = 0
LOCAL: Final = 1
LOCAL_WORLD_ALIGNED: Final = 2

# params of a body
ROTATION: Final = 0
POSITION: Final = 9
MASS: Final = 12
LEVER: Final = 13  # centre of mass
INERTIA: Final = 16  # about the centre of mass
PITCH: Final = 22
ALIGN: Final = 23  # rotation from this frame to the joint frame of the tree
BODY_PARAMS: Final = 32
# params, in the universe's place
MINUS_GRAVITY: Final = 0
ORIGIN: Final = 3  # of the kernels' world, in the universe
GROUND_MASS: Final = 7  # of what is fixed to the universe and in no body, then its first moment about the origin
GROUND_MOMENT: Final = 8
POTENTIAL: Final = 6  # energy of what is fixed to the universe: spinning rotors of the tree

# work of a body
W_POSE: Final = 0  # rotation (9), position (3)
W_S: Final = 12
W_VELOCITY: Final = 18
W_ACCELERATION: Final = 24
W_FORCE: Final = 30
W_INERTIA: Final = 36
W_MOMENTUM: Final = W_INERTIA + 10  # beside the inertia of a rigid body
W_SPIN: Final = 57  # spin momentum per unit velocity, on the parent (SINGLE)
W_OWN: Final = 60  # one number, by algorithm: torque of spin and armature, h . alpha at a = 0, or 1 / D
W_UDINV: Final = 61
W_TURN: Final = W_UDINV  # sine and cosine of its joint, until its cluster is eliminated
W_INERTIA_RATE: Final = W_UDINV
W_DINV_U: Final = 67
BODY_WORK: Final = 68

# what became of a row of a batch
ROW_GOOD: Final = 0
ROW_OPEN: Final = 1
ROW_SINGULAR: Final = 2
ROW_NOT_FINITE: Final = 3

# what a kernel returns, besides the row of a cluster whose D is singular, or minus the row of one whose K_d is
OK: Final = 0
WRONG_SIZE: Final = -1

# loops: largest value of a row where they are closed, times max(1, |q| / 100): half of what is promised, because scales
# are those of some poses; what a row may keep where rounding stops Newton's method; from where on they count as open
TOLERANCE: Final = 5e-14
ROUNDING: Final = 1e-11
OPEN: Final = 1e-6
# condition of the dependent columns of a loop from where on it is singular: half of the digits are lost, and forces
# grow beyond what any machine bears
CONDITION_LIMIT: Final = 1e8
