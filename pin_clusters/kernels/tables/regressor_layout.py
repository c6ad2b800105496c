"""Tables of the regressors: the tree's (``tree_layout``), and behind them what has parameters and what moves it.

``index``, ``params`` and ``work`` begin with what the tree's have, but for minus gravity in the universe's place of
``params``; row ``place1`` of the tree's header is the header here. ``out`` is the tree's: G and its bias stand there.

The torques have everything in axes and about the origin of the universe or, if all hangs from one free flyer on it, of
that free flyer: its six rows of the regressor are then the bodies' own forces, and cost nothing.
"""

from typing import Final, NamedTuple


class Head(NamedTuple):
    """Row behind those of the tree."""

    width: int  # columns of the regressor
    base: int  # 1 if link 1 is a free flyer from which all hangs
    reach0: int  # rows of what moves the universe and the links
    body0: int
    body1: int
    spin0: int
    spin1: int
    armature0: int
    armature1: int
    rod0: int
    rod1: int
    mass: int  # params: 1 / mass of the robot
    sines: int  # work: of all entries of q, those that are no angles as well
    cosines: int
    forces: int  # work: of each body, see ``regressor_workspace``
    Y: int  # work: the regressor by rows; what is always zero is never written


class Reach(NamedTuple):
    """Row of a link: the columns of its Jacobian that are not its parent's."""

    column0: int
    column1: int


class Column(NamedTuple):
    """Row of a column of a link's Jacobian."""

    k: int  # independent velocity
    at: int  # work: its six numbers
    up: int  # its parent's, or those of nothing
    iv0: int  # among the tree's velocities from iv0 to iv1 - 1 are those of the link that it is made of
    iv1: int


class Body(NamedTuple):
    """Row of a body: ten parameters."""

    column: int  # of the regressor
    link: int
    pair0: int
    pair1: int


class Pair(NamedTuple):
    """Row of an independent velocity that moves a body, or one of two links."""

    k: int
    at: int  # work: the column of its Jacobian
    other: int  # the same of the second link


class Spin(NamedTuple):
    """Row of a rotor that is no body: its axial inertia."""

    column: int
    tree: int  # row of ``tree_layout.Spin``
    at: int  # params: its axis, in the joint frame of the carrier
    pair0: int  # rows of all velocities that move the carrier or the rotor
    pair1: int


class Armature(NamedTuple):
    """Row of an armature."""

    column: int
    iv: int


class Rod(NamedTuple):
    """Row of a rod with mass."""

    column: int
    at: int  # params: its ends, in the joint frames, and its shares: see `regressor.column_of_rod`
    a: int  # links
    b: int
    pair0: int  # all velocities that move an end
    pair1: int


PARAMETERS: Final = 10  # of a body
FORCES: Final = 6 * PARAMETERS  # force per unit parameter, three rows in axes of the body; then the moment
