"""What Pinocchio's functions leave in ``pin.Data`` on their way, and this package's functions compute when it is read.

Pinocchio's ``rnea``, for instance, also writes placements and velocities; the algorithms here never have them in that
form. So each call notes which members of ``data`` it owes, and keeps the state; reading one of these members computes
it. Of each state there is one room. A call at another state overwrites it: what was owed there, and is not written
anew, cannot be computed any more, and reading it raises. Found by watching which members each function of Pinocchio
4.1 writes; ``tests/dropin/test_members.py`` repeats that.

The words: whether anything is owed at all, what is owed in each room, what cannot be computed; one bit per member.
"""

import functools
from typing import NamedTuple

from ..kernels.tables import tree_layout as tl

# the first ones are owed by functions of the tree as well, which say so in their ``what``
_OF_TREE = ("J", "dJ", "v", "dAg", "a", "dhg", "f", "a_gf")
MEMBERS = (*_OF_TREE, *"liMi oMi Ag g tau Ig com mass hg vcom M nle Jcom".split())
"""Members that some function owes, in the order of their bits."""
ROOMS = ("q", "q v", "q v a", "q v", "q v a")
"""What each room keeps; the last two are those of forward dynamics and of inverse dynamics."""
WORDS = 2 + len(ROOMS)
LOST = WORDS - 1
"""The word of what cannot be computed any more."""
NOTHING = "zeros"
"""In the place of an acceleration: there is none."""


def bits(members: str) -> int:
    """Return a number with the bits of members; a member may be named twice."""
    return sum(1 << MEMBERS.index(name) for name in set(members.split()))


OF_TREE = bits("J dJ v a liMi oMi Ig com vcom mass hg dhg")
"""Members that stand in the tree's data."""
READ_BY_JACOBIANS, READ_BY_RATES = bits("J oMi"), bits("J dJ oMi v")
"""Members from which Jacobians of joints and frames, and their time derivatives, are made."""


class Owed(NamedTuple):
    """What a function leaves behind."""

    room: int
    owes: int = 0  # members that it would write in Pinocchio
    spoils: int = 0  # members in which Pinocchio leaves numbers of no use: reading them raises
    writes: int = 0  # members that it writes itself, where other functions owe them

    @property
    def clears(self) -> int:
        """What is not owed by earlier calls any more."""
        return self.owes | self.spoils | self.writes


def _of(room: int, owes: str = "", spoils: str = "", writes: str = "") -> Owed:
    return Owed(room, bits(owes), bits(spoils), bits(writes))


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
"""By function. ``Jcom`` and ``mass`` of what has no centre stay as they are."""

# what is asked of the kernel of the tree stands in the lowest bits of ``what``
_ROOM_AT, _OWES_AT, _SPOILS_AT = 14, 16, 16 + len(_OF_TREE)
WHAT = (1 << _ROOM_AT) - 1
"""Those bits."""
PARTS = (_ROOM_AT, 2), (_OWES_AT, len(_OF_TREE)), (_SPOILS_AT, len(_OF_TREE))
"""Where the room, what is owed and what is spoilt stand behind them, and how many bits each has."""


def owing(what: int, function: str) -> int:
    """Return what is asked of the kernel of the tree, with what a function owes and spoils besides."""
    one = OWED[function]
    assert max(one.owes, one.spoils) < 1 << len(_OF_TREE), function
    return what | one.room << _ROOM_AT | one.owes << _OWES_AT | one.spoils << _SPOILS_AT


@functools.cache
def owing_of(what: int) -> Owed:
    """Return what is owed and spoilt besides."""
    own = (1 << len(_OF_TREE)) - 1
    return Owed(what >> _ROOM_AT & 3, what >> _OWES_AT & own, what >> _SPOILS_AT)


def before(room: int) -> tuple[int, int]:
    """Return how many vectors of size nq, and how many of size nv, are kept in the rooms before one."""
    names = " ".join(ROOMS[:room]).split()
    return names.count("q"), len(names) - names.count("q")


def places(nq: int, nv: int) -> list[int]:
    """Return where the rooms begin, one behind the other, and where they end."""
    counts = map(before, range(len(ROOMS) + 1))
    return [nq * of_q + nv * of_v for of_q, of_v in counts]


# which of the members that others owe the kernel of the tree writes with each wish: always, with v, with a
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
    """Return the bits of members that the kernel of the tree writes; ``level``: how many of v and a are given."""
    if what & tl.QUIET:
        return 0
    wishes = [members for wish, *by_level in _WRITTEN if what & wish for members in by_level[: level + 1]]
    return bits(" ".join(["liMi oMi", *wishes]))
