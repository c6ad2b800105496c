"""Layout of the tables of the spanning tree, for Pinocchio's kinematics, Jacobian and momentum functions.

Rows of ``index``: row 0 is the header, rows 1..links are the links; the lists below follow. A link is a joint, or one
of the primitive joints of a composed joint; link 0 is the universe. ``params`` of a link are the params of a body
(``layout``), but ``ALIGN`` is transposed: it maps from the joint frame of the tree. ``out`` contains the results: first
the fields of ``pin.Data`` in Pinocchio's memory order (matrices by columns; placements as the rotation by columns, then
the translation), then the results of this package. Units are SI (m, kg, s, rad).
"""

from typing import Final, NamedTuple


class TreeHeader(NamedTuple):
    """Row 0."""

    links: int  # number of links
    nq: int
    nv: int  # number of independent velocities
    nv_tree: int  # number of velocities of the tree
    dof0: int  # rows of Dof, in the order of the tree's velocities
    spin0: int  # rows of Spin
    spin1: int
    sections: int  # row of Sections; the rows of Own and Derived follow
    field0: int  # rows of Field: results that are copied to ``pin.Data``
    field1: int  # then the fields that are read from ``pin.Data``: oMi, J, dJ, v, oMf, ov
    loops: int  # 1 if G depends on q
    place0: int  # rows of Place: joints, then frames
    place1: int
    njoints: int
    lump0: int  # rows of Lump
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
    """Offsets of the package's results in ``out`` (matrices by rows) and of arrays in ``work`` outside the links."""

    J: int  # 6 x nv
    dJ: int  # 6 x nv
    Jcom: int  # 3 x nv
    Ag: int  # 6 x nv
    G: int  # nv_tree x nv
    g: int  # nv_tree
    kept: int  # nv_tree x nv: G of the last function that was given q; the functions without q read it
    kept_rate: int  # nv_tree x nv: its dG/dt
    lost: int  # 1: the last pose was singular, and ``kept`` is invalid
    mass: int  # njoints: mass of the subtree of each joint, a field of ``pin.Data`` [kg]; no kernel writes it
    v_tree: int  # work: nv_tree
    a_tree: int  # work: nv_tree
    scratch: int  # work: 6 x nv_tree


class Derived(NamedTuple):
    """Offsets of the arrays for derivatives, in ``out`` unless stated otherwise.

    In a model without loops, ``coupled``, ``turned`` and ``bends`` are the offset of the constant G.
    """

    tree_dAg: int  # 6 x nv_tree by columns, a field of ``pin.Data``
    dAg: int  # 6 x nv by rows
    coupled: int  # 4 x nv_tree x nv: G, dv_tree/dq, da_tree/dq and da_tree/dv of the last differentiated motion
    turned: int  # 2 x nv_tree x nv: G and dv_tree/dq for the derivatives of the centre-of-mass velocity
    bends: int  # (1 + nk_max) x nv_tree x nv: G for the derivatives of Jacobians, then dv_tree/dq for a unit value of
    # the i-th velocity of each cluster
    posed_q: int  # nq: q of the last call
    posed: int  # 0: no q yet, 1: valid, 2: the loops are singular there
    bent_q: int  # nq: q at which Jacobians were differentiated
    bent: int  # 0: no q yet, 1: valid, 2: ``bends`` is valid, too
    seen_q: int  # nq: q of the last motion
    seen_v: int  # nv
    seen_a: int  # nv
    seen: int  # 0: no motion yet, 1: q and v are valid, 2: a is valid, too
    standing: int  # 1 if the subtree sums of the links (``LINK_MOMENTS``) belong to the last motion
    level: int  # work: 1 if the links contain velocities, 2 if also accelerations


class Link(NamedTuple):
    """Row of a link."""

    parent: int
    kind: int  # kind of its joint, as in ``layout``
    iq: int
    iv: int  # first index in the v of the tree
    ndof: int
    shuffle: int  # kind of its ROTATION, as in ``layout.Body``
    align: int  # kind of its ALIGN, as ``shuffle``
    joint: int  # joint of the tree; 0 for all but the last primitive of a joint
    upper: int  # link of the parent joint
    first: int  # 1 for the first primitive of a joint


class Dof(NamedTuple):
    """Row of a velocity of the tree."""

    link: int
    axis: int  # axis of the frame of the link: 0 x, 1 y, 2 z
    turns: int  # 1 for rotation about the axis, 0 for translation along it
    screw: int  # params: pitch of a helical joint [m/rad], else -1
    term0: int  # rows of Term: its entries of G
    term1: int


class Term(NamedTuple):
    """Row of an entry of G that is not always zero."""

    k: int  # independent velocity
    at: int  # offset in G


class Spin(NamedTuple):
    """Row of a rotor that is lumped into its carrier."""

    link: int  # its carrier
    at: int  # params: spin momentum per unit speed in the frame of the link (3) [kg m^2]
    driver0: int  # rows of Driver
    driver1: int


class Driver(NamedTuple):
    """Row of a velocity that drives a rotor."""

    iv: int
    at: int  # params: ratio


class Field(NamedTuple):
    """Row of an array that is copied to ``pin.Data``."""

    at: int  # out
    size: int
    address: int  # 0: not copied by kernels
    what: int  # bits of the requests with which it is copied, 0: with every request
    level: int  # lowest level at which it is copied: 0 positions, 1 velocities, 2 accelerations


class Place(NamedTuple):
    """Row of a joint or frame whose Jacobian can be requested."""

    link: int
    joint: int
    at: int  # params: rotation (9) and translation (3) in the frame of the link, then in the joint frame


class Lump(NamedTuple):
    """Row of a point mass at the mean of one point of each of two links: the middle of a rod, or its fixed end."""

    at: int  # params: mass [kg], the points in the frames of their links (3 each)
    a: int
    b: int
    common: int  # the last common ancestor of both links


# bits of a request
MOTION: Final = 1  # v and a, as far as they are given
COLUMNS: Final = 2  # J; with MAP and JCOM also J of the tree
RATES: Final = 4  # dJ and ov; requires COLUMNS
CENTERS: Final = 8  # com, vcom, acom of the robot
SUBTREES: Final = 16  # com, vcom, acom of the subtree of every joint, in the frame of the joint; requires CENTERS
WORLD: Final = 32  # com of the subtree of every joint, in the world
MOMENTUM: Final = 64  # hg and dhg with CENTERS, or hg with MAP
MAP: Final = 128  # Ag
JCOM: Final = 256  # Jcom
WHOLE: Final = 512  # Ig
KEEP: Final = 1024  # G for the functions without q
AXES: Final = 2048  # J of the tree; with RATES also its dJ
MAP_RATE: Final = 4096  # dAg; requires MAP and RATES
QUIET: Final = 8192  # copy nothing to ``pin.Data``

FRAME_NUMBERS: Final = 34
"""Results per frame in addition to its Jacobian: homogeneous matrix by rows (16); velocity, spatial and classical
acceleration (6 each)."""

# Work of a link. Vectors are expressed in world axes, motions are taken at the origin of the link.
LINK_ROTATION: Final = 0  # rotation (9), position (3)
LINK_TURN: Final = 12  # 9: rotation of the joint frame of the tree
LINK_OFFSET: Final = 21  # 3: from the origin of the parent joint
LINK_VELOCITY: Final = 24  # 6
LINK_ACCELERATION: Final = 30  # 6
LINK_INERTIA: Final = 36  # 10: inertia of the subtree about the first link
LINK_MOMENTS: Final = 46  # 10: of the subtree: mass, first moment about the first link (3), momentum (3), its rate (3)
LINK_INERTIA_RATE: Final = 56  # 10: rate of change of LINK_INERTIA
LINK_WORK: Final = 66

# Record of a velocity in the plan of ``tree_solve``, which knows the tree of independent velocities.
IV: Final = 0  # its index in v
BEHIND: Final = 1  # one past its last descendant
PATH: Final = 2  # offset of the list of its ancestors
DEPTH: Final = 3  # number of its ancestors
ROW: Final = 4  # offset of its row of L
WIDTH: Final = 5
