"""Forward dynamics by the principle of virtual work, with the forces of all joints. Exact.

Every rotor is a body. With the inertias M of the links, the rows J that each joint transmits forces in, and their
bias d, the forces n of all joints solve

    (J M^-1 J' + C) n = d - J M^-1 b,

where C is the compliance of joints with armature, which transmit torques as well. Joints are eliminated from the tips
to the base: each step assembles the partial chain behind a joint with the rest of the robot. A link with n joints
couples each pair of them; it is divided into n - 2 links with three joints, rigidly joined, each with a share of its
inertia, so that the cost is linear in the number of joints however many a link has.

Loops are cut; gears, belts, the rows that close loops, and rods with mass are left as a dense system, whose cost is
cubic in their number. A link that has inertia in some directions only is lent some by its parent (a point mass on the
axis of a joint, or an inertia across it, moves with either body alike); what cannot be mended so has inertia that is
not there, and rows of the dense system take it back. So bodies without mass need not be merged.

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
        links: Number of links after they were divided.
    """

    def __init__(self, model: ClusterModel, split: bool) -> None:
        super().__init__(
            model, virtual_work, ("virtual_work", "yamane_nakamura", "forward dynamics by virtual work"), divide=split
        )
        self.links = len(self.tables.bodies) - 1


def createData(model: ClusterModel, split: bool = True) -> VirtualWork:
    """Return a workspace for the functions of this module; one per thread.

    Args:
        model: Cluster model.
        split: Divide links with more than three joints; otherwise the joints of a link are coupled pair by pair.

    Raises:
        ArgumentTypeError: ``split`` is no truth value.
        NotAvailableError: A constraint is of a kind that has no rows here.
    """
    if not isinstance(split, bool):
        raise ArgumentTypeError(f"split must be True or False, got {split!r} ({type(split).__name__}).")
    return VirtualWork(model, split)


aba, joint_forces = functions_of(VirtualWork, __name__)
