"""Layout of the tables of the spanning tree, for Pinocchio's functions for kinematics, Jacobians and momentum.

In ``index``, row 0 is the header, rows 1..links are the links, and the lists below follow. A joint, or each primitive
joint of a composed joint, has one link; link 0 is the universe. The ``params`` of a link are those of a body
(``layout``), but ``ALIGN`` is transposed: it maps vectors from the tree's joint frame to the link. ``out`` contains the
results, first the fields of ``pin.Data`` in Pinocchio's memory order: matrices are column-major, and a placement is its
rotation by columns, then its translation. Results that are not in ``pin.Data`` follow. Units are SI (m, kg, s, rad).
"""

from typing import Final, NamedTuple


class TreeHeader(NamedTuple):
    """Header row."""

    links: int  # number of links
    nq: int
    nv: int  # number of independent velocities
    nv_tree: int  # number of velocities of the tree
    dof0: int  # first row of Dof, in the order of the tree's velocities
    spin0: int  # rows of Spin are spin0..spin1-1
    spin1: int
    sections: int  # row of Sections; the rows of Own and Derived follow
    field0: int  # first row of Field: results that are copied to ``pin.Data``
    field1: int  # first row of Field for data that is read from ``pin.Data``: oMi, J, dJ, v, oMf, ov
    loops: int  # 1 if G depends on q
    place0: int  # first row of Place: joints, then frames
    place1: int
    njoints: int
    lump0: int  # rows of Lump are lump0..lump1-1
    lump1: int


class Sections(NamedTuple):
    """Offsets of the fields of ``pin.Data`` in ``out``."""

    oMi: int
    liMi: int
    v: int
    a: int
    ov: int
    com: int
    vcom: int
    acom: int
    J: int
    dJ: int
    Ag: int
    Jcom: int
    hg: int
    dhg: int
    Ig: int
    oMf: int


class Own(NamedTuple):
    """Offsets in ``out`` of results that ``pin.Data`` lacks (row-major), and in ``work`` of arrays after the links."""

    J: int  # 6 x nv
    dJ: int  # 6 x nv
    Jcom: int  # 3 x nv
    Ag: int  # 6 x nv
    G: int  # nv_tree x nv
    g: int  # nv_tree
    kept: int  # nv_tree x nv: G of the last call that had an argument q, for functions that have no such argument
    kept_rate: int  # nv_tree x nv: dG/dt of the same call
    lost: int  # 1 if the last pose was singular, so that ``kept`` is invalid
    mass: int  # size njoints: mass of the subtree of each joint [kg], a field of ``pin.Data``; no kernel writes it
    v_tree: int  # work, size nv_tree: velocities of the tree
    a_tree: int  # work, size nv_tree: accelerations of the tree
    scratch: int  # work, 6 x nv_tree


class Derived(NamedTuple):
    """Offsets of the arrays for derivatives, in ``out`` unless stated otherwise.

    If the model has no loops, ``coupled``, ``turned`` and ``bends`` are all equal to the offset of the constant G.
    """

    tree_dAg: int  # 6 x nv_tree, column-major, a field of ``pin.Data``
    dAg: int  # 6 x nv, row-major
    coupled: int  # 4 x nv_tree x nv: G, dv_tree/dq, da_tree/dq and da_tree/dv of the last differentiated motion
    turned: int  # 2 x nv_tree x nv: G and dv_tree/dq for the derivatives of the centre-of-mass velocity
    bends: int  # (1 + nk_max) x nv_tree x nv: G, then dv_tree/dq for each i, with velocity i of each cluster equal to 1
    posed_q: int  # size nq: q of the last call
    posed: int  # 0: no q yet, 1: valid, 2: the loops are singular at this q
    bent_q: int  # size nq: q at which Jacobians were differentiated
    bent: int  # 0: no q yet, 1: valid, 2: ``bends`` is also valid
    seen_q: int  # size nq: q of the last motion
    seen_v: int  # size nv: v of the last motion
    seen_a: int  # size nv: a of the last motion
    seen: int  # 0: no motion yet, 1: q and v are valid, 2: a is also valid
    standing: int  # 1 if the links' subtree sums (``LINK_MOMENTS``) belong to the last motion
    level: int  # work: 1 if the links contain velocities, 2 if they also contain accelerations


class Link(NamedTuple):
    """Row of a link."""

    parent: int
    kind: int  # kind of the link's joint, one of the constants in ``layout``
    iq: int
    iv: int  # first index in the v of the tree
    ndof: int
    shuffle: int  # kind of the link's ROTATION, encoded like ``layout.Body.shuffle``
    align: int  # kind of the link's ALIGN, encoded like ``shuffle``
    joint: int  # joint of the tree; 0 for every primitive of a joint except the last
    upper: int  # link of the parent joint
    first: int  # 1 for the first primitive of a joint, else 0


class Dof(NamedTuple):
    """Row of a velocity of the tree."""

    link: int
    axis: int  # axis of the link's frame: 0 is x, 1 is y, 2 is z
    turns: int  # 1 for rotation about the axis, 0 for translation along it
    screw: int  # params: pitch of a helical joint [m/rad], else -1
    term0: int  # rows of Term for its entries of G are term0..term1-1
    term1: int


class Term(NamedTuple):
    """Row of an entry of G that is not structurally zero."""

    k: int  # index of the independent velocity
    at: int  # offset in G


class Spin(NamedTuple):
    """Row of a rotor that is lumped into its carrier."""

    link: int  # link that carries the rotor
    at: int  # params: spin momentum per unit speed in the link's frame (3) [kg m^2]
    driver0: int  # rows of Driver are driver0..driver1-1
    driver1: int


class Driver(NamedTuple):
    """Row of a velocity that drives a rotor."""

    iv: int
    at: int  # params: ratio of the rotor's speed to this velocity


class Field(NamedTuple):
    """Row of an array that is copied to ``pin.Data``."""

    at: int  # offset of the array in ``out``
    size: int
    address: int  # address of the array in ``pin.Data``; 0 if kernels do not copy it
    what: int  # bits of the requests that copy the array; 0 if every request copies it
    level: int  # lowest level at which the array is copied: 0 positions, 1 velocities, 2 accelerations


class Place(NamedTuple):
    """Row of a joint or frame whose Jacobian can be requested."""

    link: int
    joint: int
    at: int  # params: rotation (9) and translation (3) in the link's frame, then in the joint frame


class Lump(NamedTuple):
    """Row of a point mass at the mean of two points on two links: the middle of a rod, or its fixed end."""

    at: int  # params: mass [kg], then the points in the frames of their links (3 each)
    a: int
    b: int
    common: int  # the last common ancestor of the two links


# Bits of a request.
MOTION: Final = 1  # velocities if v is given, and accelerations if a is given
COLUMNS: Final = 2  # J; if MAP and JCOM are set, also J of the tree
RATES: Final = 4  # dJ and ov; requires COLUMNS
CENTERS: Final = 8  # com, vcom and acom of the robot
SUBTREES: Final = 16  # com, vcom and acom of each joint's subtree, in the joint's frame; requires CENTERS
WORLD: Final = 32  # com of each joint's subtree, in the world
MOMENTUM: Final = 64  # hg and dhg if CENTERS is set, or hg if MAP is set
MAP: Final = 128  # the momentum matrix Ag
JCOM: Final = 256  # the Jacobian of the centre of mass, Jcom
WHOLE: Final = 512  # the inertia Ig of the whole robot
KEEP: Final = 1024  # store G for functions that have no argument q
AXES: Final = 2048  # J of the tree; if RATES is set, also dJ of the tree
MAP_RATE: Final = 4096  # dAg; requires MAP and RATES
QUIET: Final = 8192  # copy nothing to ``pin.Data``

FRAME_NUMBERS: Final = 34
"""Results per frame: homogeneous matrix (16, row-major); velocity, spatial and classical acceleration (6 each)."""

# Offsets in the work of a link. Vectors are expressed in world axes; motions refer to the link's origin.
LINK_ROTATION: Final = 0  # rotation (9), then position (3)
LINK_TURN: Final = 12  # size 9: rotation of the joint frame of the tree
LINK_OFFSET: Final = 21  # size 3: vector from the origin of the parent joint
LINK_VELOCITY: Final = 24  # size 6
LINK_ACCELERATION: Final = 30  # size 6
LINK_INERTIA: Final = 36  # size 10: inertia of the subtree about the first link
LINK_MOMENTS: Final = 46  # subtree: mass, first moment about the first link (3), momentum (3), momentum rate (3)
LINK_INERTIA_RATE: Final = 56  # size 10: time derivative of LINK_INERTIA
LINK_WORK: Final = 66

# ``plan``, an argument of ``tree.solve``, contains one record per independent velocity. Fields of a record:
IV: Final = 0  # index of the velocity in v
BEHIND: Final = 1  # index after its last descendant
PATH: Final = 2  # offset of the list of its ancestors
DEPTH: Final = 3  # number of its ancestors
ROW: Final = 4  # offset of its row of L
WIDTH: Final = 5
