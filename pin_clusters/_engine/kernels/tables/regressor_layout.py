"""Tables of the regressor: the links of the tree, whose bodies have parameters, and what else has one.

Rows of ``index``: 0 the header, 1..links the links, then what is named below. ``params`` begin as those of the tree do
(``tree_layout``), with minus gravity in the universe's place. ``out`` is the tree's: G and its bias stand there.

Everything is in axes and about the origin of the universe or, if all hangs from one free flyer on it, of that free
flyer: its six rows of the regressor are then the bodies' own forces, and cost nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Head(NamedTuple):
    """Row 0."""

    links: int
    nq: int
    nv: int
    nv_tree: int
    dof0: int  # rows of the tree's velocities, as ``tree_layout.Dof``
    width: int  # columns of the regressor
    base: int  # 1 if link 1 is a free flyer from which all hangs
    body0: int
    body1: int
    spin0: int
    spin1: int
    armature0: int
    armature1: int
    rod0: int
    rod1: int
    room: int  # row of Room


class Room(NamedTuple):
    """Where things are."""

    G: int  # out
    g: int
    v_tree: int  # work
    a_tree: int
    sines: int  # of all entries of q, those that are no angles as well
    cosines: int
    Y: int  # the regressor by rows; what is always zero is never written
    base: int  # rotation (9) and position (3) of the axes in which all is, in the universe
    mass: int  # params: 1 / mass of the robot


class Link(NamedTuple):
    """Row of a link.

    A HINGE turns about its z axis at a constant ratio to one independent velocity: most links do.
    """

    parent: int
    kind: int  # of its joint, as in ``layout``
    iq: int
    iv: int
    ndof: int
    shuffle: int
    align: int
    column0: int  # rows of the columns of its Jacobian that are not its parent's
    column1: int
    body: int  # 1 if it has a body: it is the last link of its joint
    k: int  # HINGE: the one independent velocity that turns it; -1: all else
    at_G: int  # HINGE: its entry of G, never with a bias
    place: int  # HINGE: the column of its Jacobian, and its parent's
    up: int


class Column(NamedTuple):
    """Row of a column of a link's Jacobian; a HINGE has none."""

    at: int  # work: its six numbers
    up: int  # its parent's, or those of nothing
    entry0: int
    entry1: int


class Entry(NamedTuple):
    """Row of an entry of G that makes a column."""

    at_G: int
    axis: int  # of the link's frame
    turns: int
    screw: int


class Body(NamedTuple):
    """Row of a body: ten parameters."""

    column: int  # of the regressor
    link: int
    pair0: int
    pair1: int


class Pair(NamedTuple):
    """Row of an independent velocity that moves a body."""

    k: int
    at: int  # work: the column of its Jacobian


class Spin(NamedTuple):
    """Row of a rotor that is no body: its axial inertia."""

    column: int
    link: int  # its carrier
    at: int  # params: its axis, in the joint frame of the carrier
    driver0: int  # rows of ``tree_layout.Driver``
    driver1: int
    pair0: int  # rows of all velocities that move the carrier or the rotor
    pair1: int
    term0: int
    term1: int


class Turn(NamedTuple):
    """Row of an entry of G that turns a rotor."""

    k: int
    at_G: int
    at: int  # params: ratio


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
    a0: int  # those that move a
    a1: int
    b0: int
    b1: int


# work of a link
ROTATION: Final = 0  # 9, of the link, and position: 3
TURN: Final = 12  # 9: of the joint frame of the tree
SPEED: Final = 21  # 3: angular velocity
GAIN: Final = 24  # 3: angular acceleration
PULL: Final = 27  # 3: acceleration of the origin as a point, minus gravity; for energies its velocity
FORCE: Final = 30  # force per unit parameter, three rows of ten in axes of the body; then the moment
MOMENT: Final = 60
LINK_ROOM: Final = 90
PARAMETERS: Final = 10  # of a body
