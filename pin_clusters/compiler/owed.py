"""Owed members: members of ``pin.Data`` that Pinocchio writes at a call, but this package computes when they are read.

For example, Pinocchio's ``rnea`` also writes placements and velocities, which the algorithms of this package do not
need. Therefore each call stores the state and records which members of ``data`` it owes. Reading an owed member
computes the member at the stored state. There is one buffer for each kind of state, and a call at another state
overwrites the buffer. If the new call does not owe a member that the earlier call owed, this member is lost, and
reading it raises an error. The table ``OWED`` lists the members that each function of Pinocchio 4.1 writes; the test
``tests/dropin/test_members.py`` checks this table.

The status words are bit masks of members. The first word contains all members that have no valid value. Each of the
next words contains the members that will be computed from one state buffer. The last word contains the members that
can no longer be computed.
"""

import functools
from typing import NamedTuple

from ..kernels.tables import tree_layout as tl

# members that functions of the spanning tree can owe; the bits of the argument ``what`` select among these members
_OF_TREE = ("J", "dJ", "v", "dAg", "a", "dhg", "f", "a_gf")
MEMBERS = (*_OF_TREE, *"liMi oMi Ag g tau Ig com mass hg vcom M nle Jcom".split())
"""Members of ``pin.Data`` that a function can owe, in the order of their bits."""
STATE_BUFFERS = ("q", "q v", "q v a", "q v", "q v a")
"""Vectors in each state buffer. Buffer 3 is used by forward dynamics, and buffer 4 by inverse dynamics."""
WORDS = 2 + len(STATE_BUFFERS)
LOST = WORDS - 1
"""Index of the status word that marks the lost members."""
NOTHING = "zeros"
"""Name of the zero vector that replaces a missing acceleration."""


def bits(members: str) -> int:
    return sum(1 << MEMBERS.index(name) for name in set(members.split()))


OF_TREE = bits("J dJ v a liMi oMi Ig com vcom mass hg dhg")
"""Members that are stored in the ``pin.Data`` of the spanning tree."""
READ_BY_JACOBIANS, READ_BY_RATES = bits("J oMi"), bits("J dJ oMi v")
"""Members that Jacobians of joints and frames require, and members that time derivatives of Jacobians require."""


class Owed(NamedTuple):
    """The members that a function owes, makes invalid (``spoils``) and writes."""

    buffer: int  # index of the buffer that keeps the state
    owes: int = 0  # members that Pinocchio would write
    spoils: int = 0  # members in which Pinocchio leaves intermediate values; reading such members raises an error
    writes: int = 0  # members that other functions owe, but that this function writes during the call

    @property
    def clears(self) -> int:
        return self.owes | self.spoils | self.writes


def _of(buffer: int, owes: str = "", spoils: str = "", writes: str = "") -> Owed:
    return Owed(buffer, bits(owes), bits(spoils), bits(writes))


OWED = {
    "rnea": _of(4, "a_gf f liMi v", writes="tau"),
    "rnea with forces": _of(4, "a_gf liMi v", spoils="f", writes="tau"),
    "nonLinearEffects": _of(1, "a_gf f liMi v", writes="nle"),
    "computeGeneralizedGravity": _of(0, "a_gf f liMi", writes="g"),
    "computeStaticTorque": _of(0, "a_gf liMi", spoils="f", writes="tau"),
    "aba": _of(3, "liMi v", spoils="a a_gf f"),
    "crba": _of(0, "liMi", writes="M"),
    "computeMinverse": _of(0, "J liMi oMi"),
    "computeRNEADerivatives": _of(2, "J a dJ liMi oMi v", writes="tau M"),
    "computeABADerivatives": _of(3, "J dJ liMi oMi", writes="M"),
    "computeGeneralizedGravityDerivatives": _of(0, "J g liMi oMi", spoils="Ag"),
    "computeStaticTorqueDerivatives": _of(0, "J liMi oMi", spoils="Ag tau"),
    "computeCoriolisMatrix": _of(1, "J dJ liMi oMi v", spoils="Ag"),
    "computeKineticEnergy": _of(1, "liMi oMi v"),
    "computePotentialEnergy": _of(0, "liMi oMi"),
    "computeMechanicalEnergy": _of(1, "liMi oMi v"),
    "computeCentroidalDynamicsDerivatives": _of(2, "Ag Ig J a com dJ dhg hg liMi mass oMi v", spoils="tau"),
    "computeJointTorqueRegressor": _of(4, "a_gf liMi v"),
    "computeStaticRegressor": _of(0, "liMi oMi"),
    "computeKineticEnergyRegressor": _of(1, "liMi oMi v"),
    "computePotentialEnergyRegressor": _of(0, "liMi oMi"),
    "constraintDynamics": _of(1, "J M com liMi nle oMi", spoils="Ag a_gf f"),
    "impulseDynamics": _of(0, "J M com liMi oMi", spoils="Ag"),
    "computeDelassusMatrix": _of(0, "J liMi oMi"),
    "forwardDynamics": _of(
        2, "Ag Ig J Jcom a com dAg dJ g hg liMi mass nle oMi v vcom", spoils="a_gf dhg f", writes="M"
    ),
    "jacobianCenterOfMass": _of(0, "J"),
    "computeCentroidalMap": _of(0, "J"),
    "ccrba": _of(0, "J"),
    "dccrba": _of(1, "J dJ v"),
    "computeForwardKinematicsDerivatives": _of(1, "J dJ"),
    "computeAllTerms": _of(2, "a a_gf dAg dJ", spoils="dhg f"),
    "computeAllTerms with frames": _of(2, "a_gf dAg dJ", spoils="f"),
    "computeCentroidalMomentumTimeVariation": _of(2, spoils="f"),
}
"""Members that each function owes, spoils and writes. ``Jcom`` and ``mass`` of massless subtrees do not change."""

# In ``what``, the lowest bits select results of the tree's kernel; the bits of ``PARTS`` follow.
_BUFFER_AT, _OWES_AT, _SPOILS_AT = 14, 16, 16 + len(_OF_TREE)
WHAT = (1 << _BUFFER_AT) - 1
"""Bit mask of the bits in ``what`` that select results."""
PARTS = (_BUFFER_AT, 2), (_OWES_AT, len(_OF_TREE)), (_SPOILS_AT, len(_OF_TREE))
"""First bit and number of bits in ``what`` for: the buffer index, the owed members, the members made invalid."""


def owing(what: int, function: str) -> int:
    owed = OWED[function]
    assert max(owed.owes, owed.spoils) < 1 << len(_OF_TREE), function
    return what | owed.buffer << _BUFFER_AT | owed.owes << _OWES_AT | owed.spoils << _SPOILS_AT


@functools.cache
def owing_of(what: int) -> Owed:
    mask = (1 << len(_OF_TREE)) - 1
    return Owed(what >> _BUFFER_AT & 3, what >> _OWES_AT & mask, what >> _SPOILS_AT)


def before(buffer: int) -> tuple[int, int]:
    """Return how many vectors of size nq, and how many of size nv, the buffers before ``buffer`` contain."""
    names = " ".join(STATE_BUFFERS[:buffer]).split()
    return names.count("q"), len(names) - names.count("q")


def places(nq: int, nv: int) -> list[int]:
    """Return the offset of each buffer, followed by the end of the last buffer; buffers are consecutive."""
    counts = map(before, range(len(STATE_BUFFERS) + 1))
    return [nq * of_q + nv * of_v for of_q, of_v in counts]


# for each result: members that the tree's kernel writes; further members if v is given; further members if a is given
_WRITTEN = (
    (tl.MOTION, "", "v", "a"),
    (tl.COLUMNS, "J", "", ""),
    (tl.RATES, "dJ", "", ""),
    (tl.CENTERS, "com mass", "vcom", ""),
    (tl.WORLD, "com mass", "", ""),
    (tl.MOMENTUM, "", "hg", "dhg"),
    (tl.MAP, "Ag", "", ""),
    (tl.JCOM, "Jcom", "", ""),
    (tl.WHOLE, "Ig", "", ""),
    (tl.MAP_RATE, "dAg", "", ""),
)


@functools.cache
def written(what: int, level: int) -> int:
    """Return the bits of the members that the tree's kernel writes.

    ``level`` is 0 for q alone, 1 for q and v, and 2 for q, v and a.
    """
    if what & tl.QUIET:
        return 0
    selected = [members for bit, *by_level in _WRITTEN if what & bit for members in by_level[: level + 1]]
    return bits(" ".join(["liMi oMi", *selected]))
