"""Exact forward dynamics by the principle of virtual work, with the forces of all joints.

Every rotor is a body. M contains the link inertias, b the loads of the links, J the directions in which joints transmit
forces, and d the bias accelerations in these directions. The forces n of all joints satisfy

    (J M^-1 J' + C) n = d - J M^-1 b,

where C is the compliance of joints with armature, which also transmit torques. Joints are eliminated from the tips to
the base. Each step connects the partial chain behind a joint to the rest of the robot. A link with n joints couples all
pairs of these joints. This link is divided into n - 2 rigidly connected links with three joints and equal inertias, so
that the cost is linear in the number of joints.

Loops are cut. The constraints of gears, belts, loop closures and rods with mass remain as a dense system, whose cost is
cubic in the number of rows. A link with a singular inertia borrows inertia from its parent (see ``_shares``). If this
is impossible, fictitious inertia is added, and rows of the dense system cancel its effect. Massless bodies are
therefore supported.

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
        links: Number of links after links with many joints are divided.
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
        split: Whether to divide links with more than three joints. Otherwise, a link couples all pairs of its joints.

    Raises:
        ArgumentTypeError: ``split`` is not a bool.
        NotAvailableError: The baseline does not support a constraint of the model.
    """
    if not isinstance(split, bool):
        raise ArgumentTypeError(f"split must be True or False, got {split!r} ({type(split).__name__}).")
    return VirtualWork(model, split)


aba, joint_forces = functions_of(VirtualWork, __name__)
