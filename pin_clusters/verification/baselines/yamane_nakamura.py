"""Forward dynamics by the principle of virtual work, with the forces of all joints. Exact.

Every rotor is a body. With the link inertias M, the rows J of the directions in which joints transmit forces, and their
bias d, the forces n of all joints satisfy

    (J M^-1 J' + C) n = d - J M^-1 b,

where C is the compliance of joints with armature, which also transmit torques. Joints are eliminated from the tips to
the base: each step assembles the partial chain behind a joint with the rest of the robot. A link with n joints couples
each pair of them. It is divided into n - 2 rigidly connected links with three joints and equal shares of inertia, so
the cost is linear in the number of joints.

Loops are cut. Gears, belts, loop-closure rows and rods with mass form a remaining dense system, whose cost is cubic in
their number. A link with a singular inertia borrows inertia from its parent (a point mass on the axis of a joint, or an
inertia transverse to it, moves identically with either body). Otherwise it is given fictitious inertia, which rows of
the dense system cancel. Massless bodies therefore need not be merged.

References:
    Yamane and Nakamura, "O(N) forward dynamics computation of open kinematic chains based on the principle of virtual
    work": equations (36) to (41) inward, (46) to (53) outward, section 4 for links with many joints.
"""

from ...errors import ArgumentTypeError
from ...model import ClusterModel
from ._method import Method, functions_of
from ._patterns import virtual_work


class VirtualWork(Method):
    """Workspace of this module.

    Attributes:
        links: Number of links after division.
    """

    def __init__(self, model: ClusterModel, split: bool) -> None:
        super().__init__(
            model, virtual_work, ("virtual_work", "yamane_nakamura", "forward dynamics by virtual work"), divide=split
        )
        self.links = len(self.tables.bodies) - 1


def createData(model: ClusterModel, split: bool = True) -> VirtualWork:
    """Create a workspace for the functions of this module; use one per thread.

    Args:
        model: Cluster model.
        split: Whether to divide links with more than three joints; otherwise all joints of a link are coupled in pairs.

    Raises:
        ArgumentTypeError: ``split`` is not a bool.
        NotAvailableError: This baseline does not support a constraint of the model.
    """
    if not isinstance(split, bool):
        raise ArgumentTypeError(f"split must be True or False, got {split!r} ({type(split).__name__}).")
    return VirtualWork(model, split)


aba, joint_forces = functions_of(VirtualWork, __name__)
