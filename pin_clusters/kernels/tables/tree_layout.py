"""Tables of the spanning tree, every joint a link of its own, for what Pinocchio calls kinematics and momentum.

Rows of ``index``: 0 the header, 1..links the links, then what is named below. A link is a joint, or one of the
primitive joints of which it is composed; link 0 is the universe. ``params`` of a link are those of a body (``layout``),
but ``ALIGN`` is transposed: it leads from the joint frame. ``out`` has the results: what ``pin.Data`` calls by the same
name, and how (matrices by columns, placements as rotation by columns and translation), then this package's own.
"""

from typing import Final, NamedTuple


class TreeHeader(NamedTuple):
    """Row 0."""

    links: int
    nq: int
    nv: int
    nv_tree: int
    dof0: int  # rows of the tree's velocities, in their order
    spin0: int  # rows of rotors that are no bodies
    spin1: int
    sections: int  # row of Sections, then of Own and Derived
    field0: int  # rows of what is copied to ``pin.Data``
    field1: int  # behind it are the fields that are read there: oMi, J, dJ, v, oMf, ov
    loops: int  # 1 if G depends on q
    place0: int  # rows of joints, then of frames
    place1: int
    njoints: int
    lump0: int  # rows of point masses that no link carries
    lump1: int


class Sections(NamedTuple):
    """Where in ``out`` the fields of ``pin.Data`` are."""

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
    """Where in ``out`` our own results are, by rows of nv; and where in ``work`` what belongs to no link."""

    J: int
    dJ: int
    Jcom: int
    Ag: int
    G: int  # nv_tree x nv
    g: int  # its bias, nv_tree
    kept: int  # G of the last function that was given q, for those that are not
    kept_rate: int  # and dG/dt
    lost: int  # 1 if there is no kept G, because the pose was singular
    mass: int  # of the subtree of every joint, a field of ``pin.Data``; never written
    v_tree: int  # work
    a_tree: int  # work
    room: int  # work: six numbers per velocity of the tree


class Derived(NamedTuple):
    """What derivatives have besides: where in ``out``, or in ``work``."""

    tree_dAg: int  # by columns, a field of ``pin.Data``
    dAg: int  # rows of nv
    coupled: int  # G where motions were last differentiated, then dv_tree/dq, da_tree/dq, da_tree/dv; or the constant G
    turned: int  # G where the velocity of the centre of mass is differentiated, then dv_tree/dq; or the constant G
    bends: int  # G where Jacobians are, then dv_tree/dq of unit velocities, the i-th of each cluster; or the constant G
    posed_q: int  # q of the last call
    posed: int  # 1 if it is there, 2 if loops are singular there
    bent_q: int  # q where Jacobians are differentiated
    bent: int  # 1 if it is there, 2 if bends are too
    seen_q: int  # q, v and a of the last motion
    seen_v: int
    seen_a: int
    seen: int  # 1 if q and v are there, 2 if a is too
    standing: int  # 1 if what was computed of the links then is there as well
    level: int  # work: 1 if the links have velocities, 2 if accelerations too


class Link(NamedTuple):
    """Row of a link."""

    parent: int
    kind: int  # of its joint, as in ``layout``
    iq: int
    iv: int  # first index in the tree's v
    ndof: int
    shuffle: int  # its ROTATION, as in ``layout.Body``
    align: int  # the same of its ALIGN
    joint: int  # of the tree; 0 for all but the last primitive of a joint
    upper: int  # link of the parent joint
    first: int  # 1 for the first primitive of a joint


class Dof(NamedTuple):
    """Row of a velocity of the tree."""

    link: int
    axis: int  # of the link's frame
    turns: int  # 1 about the axis, 0 along it
    screw: int  # params: pitch of a helical joint, else -1
    term0: int  # rows of its entries of G
    term1: int


class Term(NamedTuple):
    """Row of an entry of G that is not always zero."""

    k: int  # independent velocity
    at: int  # place in G


class Spin(NamedTuple):
    """Row of a rotor that is no body."""

    link: int  # its carrier
    at: int  # params: spin momentum per unit speed in the link's frame
    driver0: int
    driver1: int


class Driver(NamedTuple):
    """Row of a velocity that drives a rotor."""

    iv: int
    at: int  # params: ratio


class Field(NamedTuple):
    """Row of numbers that are copied to ``pin.Data``."""

    at: int  # out
    size: int
    address: int
    what: int  # with which of the wishes
    level: int  # from which level on: 0 positions, 1 velocities, 2 accelerations


class Place(NamedTuple):
    """Row of a joint or frame of which one may want the Jacobian."""

    link: int
    joint: int
    at: int  # params: rotation and translation in the link's frame, then in the joint frame


class Lump(NamedTuple):
    """Row of a point mass that moves like the mean of two points of links: two thirds of a rod, or its fixed end."""

    at: int  # params: mass, the points in the frames of their links
    a: int
    b: int
    common: int  # the last link that carries both


# what is wished for: bits
MOTION: Final = 1  # v and a, as far as they are given
COLUMNS: Final = 2  # J; that of the tree also with MAP and JCOM
RATES: Final = 4  # dJ and ov; with COLUMNS
CENTERS: Final = 8  # com, vcom, acom of the whole robot
SUBTREES: Final = 16  # the same of the subtree of every joint, in its frame; with CENTERS
WORLD: Final = 32  # com of the subtree of every joint, in the world
MOMENTUM: Final = 64  # hg, dhg; with CENTERS, or hg with MAP
MAP: Final = 128  # Ag
JCOM: Final = 256  # Jcom
WHOLE: Final = 512  # Ig
KEEP: Final = 1024  # G for the functions that are not given q
AXES: Final = 2048  # J of the tree; dJ with RATES
MAP_RATE: Final = 4096  # dAg; with MAP and RATES
QUIET: Final = 8192  # nothing is copied to ``pin.Data``

FRAME_NUMBERS: Final = 34
"""Of a frame beside its Jacobian: homogeneous matrix by rows, velocity, spatial and classical acceleration."""

# work of a link; vectors in axes of the world, motions at the link's own origin
LINK_ROTATION: Final = 0  # 9, and position: 3
LINK_TURN: Final = 12  # 9: the joint frame of the tree
LINK_OFFSET: Final = 21  # 3: from the origin of the parent joint
LINK_VELOCITY: Final = 24
LINK_ACCELERATION: Final = 30
LINK_INERTIA: Final = 36  # 10: of all that it carries, about the first link
LINK_MOMENTS: Final = 46  # 10: of all that it carries: mass, first moment about the first link, momentum, its rate
LINK_INERTIA_RATE: Final = 56  # 10: its rate of change
LINK_WORK: Final = 66

# of a velocity in the plan of ``tree_solve``
IV: Final = 0  # its index in v
BEHIND: Final = 1  # behind the last one that hangs from it
PATH: Final = 2  # where the list of those above begins
DEPTH: Final = 3  # how many there are
ROW: Final = 4  # where its row of L begins
WIDTH: Final = 5
