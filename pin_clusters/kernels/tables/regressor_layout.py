"""Layout of the tables of the regressors: the tables of the tree (``tree_layout``), then the lists defined below.

``params`` contains minus gravity in the universe's record. Row ``TreeHeader.place1`` of ``index`` is the header
``Head``. ``out`` is the tree's array of results, which contains G and its bias.

The torque regressor uses the axes and the origin of the universe. If all links are below one free flyer on the
universe, it uses the free flyer's frame. The regressor's first six rows are then forces per unit parameter.
"""

from typing import Final, NamedTuple


class Head(NamedTuple):
    """Header row, which follows the rows of the tree."""

    width: int  # number of columns of the regressor
    base: int  # 1 if all other links are below link 1, a free flyer
    reach0: int  # first row of Reach: the universe, then the links
    body0: int  # rows of Body are body0..body1-1
    body1: int
    spin0: int  # first row of Spin
    spin1: int
    armature0: int  # first row of Armature
    armature1: int
    rod0: int  # first row of Rod
    rod1: int
    mass: int  # params: inverse of the robot's mass [1/kg]
    sines: int  # work, size nq: sines of all entries of q, computed in one loop; unused if the entry is not an angle
    cosines: int  # work, size nq: cosines of all entries of q
    forces: int  # work: 60 entries per body, see ``regressor_workspace``
    Y: int  # work: nv x width, the regressor, row-major; structural zeros are never written


class Reach(NamedTuple):
    """Row of a link: the columns of its Jacobian that differ from its parent's columns."""

    column0: int  # rows of Column are column0..column1-1
    column1: int


class Column(NamedTuple):
    """Row of a column of a link's Jacobian."""

    k: int  # index of the independent velocity
    at: int  # work, size 6: the column
    up: int  # work, size 6: the parent's column, or zeros
    iv0: int  # the link's velocities that contribute to the column are iv0..iv1-1 in the v of the tree
    iv1: int


class Body(NamedTuple):
    """Row of a body, which has ten parameters."""

    column: int  # first of the body's ten columns of the regressor
    link: int
    pair0: int  # rows of Pair are pair0..pair1-1
    pair1: int


class Pair(NamedTuple):
    """Row of an independent velocity that moves a body, or at least one of two links."""

    k: int
    at: int  # work, size 6: column of the body's Jacobian
    other: int  # work, size 6: column of the second link's Jacobian


class Spin(NamedTuple):
    """Row of a lumped rotor, which has one parameter, its axial inertia."""

    column: int
    tree: int  # row of ``tree_layout.Spin``
    at: int  # params: rotor axis in the carrier's joint frame (3)
    pair0: int  # first row of Pair: all velocities that move the carrier or the rotor
    pair1: int


class Armature(NamedTuple):
    """Row of a joint armature."""

    column: int
    iv: int


class Rod(NamedTuple):
    """Row of a rod with mass."""

    column: int
    at: int  # params: rod ends in the joint frames, then its mass shares, see ``regressor.column_of_rod``
    a: int  # first of the two links a and b
    b: int
    pair0: int  # first row of Pair: all velocities that move an end
    pair1: int


PARAMETERS: Final = 10  # number of parameters of a body
FORCES: Final = 6 * PARAMETERS  # per body: force (3 x 10, row-major) and moment per unit parameter, in body axes
