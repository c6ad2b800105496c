"""Layout of the tables of the regressors: the tables of the tree (``tree_layout``), followed by the lists below.

``params`` contains minus gravity in the record of the universe. Row ``TreeHeader.place1`` of ``index`` is the header
``Head``. ``out`` is that array of the tree; the regressors read G and its bias there.

The torque regressor uses the axes and the origin of the universe, or, if all links are below one free flyer on the
universe, of the free flyer: its six rows of the regressor then equal the forces of the bodies.
"""

from typing import Final, NamedTuple


class Head(NamedTuple):
    """First row after the rows of the tree."""

    width: int  # columns of the regressor
    base: int  # 1 if all other links are below link 1, a free flyer
    reach0: int  # rows of Reach: the universe, then the links
    body0: int  # rows of Body
    body1: int
    spin0: int  # rows of Spin
    spin1: int
    armature0: int  # rows of Armature
    armature1: int
    rod0: int  # rows of Rod
    rod1: int
    mass: int  # params: 1 / mass of the robot [1/kg]
    sines: int  # work: nq: sines of all entries of q, computed in one loop even for entries that are not angles
    cosines: int  # work: nq
    forces: int  # work: 60 per body, see ``regressor_workspace``
    Y: int  # work: nv x width, the regressor by rows; structural zeros are never written


class Reach(NamedTuple):
    """Row of a link: the columns of its Jacobian that differ from its parent's."""

    column0: int  # rows of Column
    column1: int


class Column(NamedTuple):
    """Row of a column of a link's Jacobian."""

    k: int  # independent velocity
    at: int  # work: 6
    up: int  # work: the column of the parent, or zeros
    iv0: int  # the velocities of the link that contribute to it are in iv0..iv1-1, in the v of the tree
    iv1: int


class Body(NamedTuple):
    """Row of a body: ten parameters."""

    column: int  # first of ten columns of the regressor
    link: int
    pair0: int  # rows of Pair
    pair1: int


class Pair(NamedTuple):
    """Row of an independent velocity that moves a body, or one of two links."""

    k: int
    at: int  # work: the column of its Jacobian (6)
    other: int  # work: the column of the Jacobian of the second link


class Spin(NamedTuple):
    """Row of a lumped rotor: one parameter, its axial inertia."""

    column: int
    tree: int  # row of ``tree_layout.Spin``
    at: int  # params: its axis in the joint frame of the carrier (3)
    pair0: int  # rows of Pair: all velocities that move the carrier or the rotor
    pair1: int


class Armature(NamedTuple):
    """Row of an armature."""

    column: int
    iv: int


class Rod(NamedTuple):
    """Row of a rod with mass."""

    column: int
    at: int  # params: its ends in the joint frames and its mass shares, see ``regressor.column_of_rod``
    a: int  # links
    b: int
    pair0: int  # rows of Pair: all velocities that move an end
    pair1: int


PARAMETERS: Final = 10  # parameters of a body
FORCES: Final = 6 * PARAMETERS  # per body: force (3 x 10, by rows) and moment per unit parameter, in axes of the body
