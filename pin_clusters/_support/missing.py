"""What Pinocchio has and this package has not: where to go instead."""

import sys
from typing import NoReturn

import pinocchio as pin

from ..errors import NotAvailableError
from .pinocchio_names import ELSEWHERE

_PACKAGE = __name__.partition(".")[0]

_CHOLESKY = (
    "The class factors the mass matrix of the tree, without rotors and couplings. "
    "Use pc.computeKKTContactDynamicMatrixInverse or pc.computeDelassusMatrix, which include them."
)
_OF_MANY = {
    "Use pc.batch.{function}(model, q, v, ..., threads=n), whose rows are the states.": """
        abaInParallel rneaInParallel
    """,
    "It is a part of a solver of contacts with friction on a Delassus matrix: pc.computeDelassusMatrix makes that one "
    "with the couplings; pc.constraintDynamics solves bilateral contacts.": """
        computeComplementarityShift computeConeProjection computeContactForces computeDualConeProjection
        computePrimalFeasibility computeReprojectionError
    """,
    "q is the whole tree's: use pinocchio.{name} with model.tree.": """
        compactTangentMap findCommonAncestor getTangentToConfigurationSparsitySegment lieGroup tangentMap
        tangentMapProduct tangentMapTransposeProduct
    """,
    "It is Pinocchio on another scalar: pc.trace(model, function) is one robot's function as a list of operations; "
    "pc.casadi, pc.codegen and pc.jax are made of it.": """
        cppad cppadcg mpfr
    """,
    "It moves every joint of the tree by itself: draw rows of pc.randomConfiguration(model), and use "
    "pc.batch.forwardKinematics(model, q, frames).": """
        reachableWorkspace reachableWorkspaceHull reachableWorkspaceWithCollisions reachableWorkspaceWithCollisionsHull
    """,
}
"""By what is said of all of them: ``{name}`` is the name, ``{function}`` what it does in parallel."""
_ROUTES = {
    name: text.format(name=name, function=name.removesuffix("InParallel"))
    for text, names in _OF_MANY.items()
    for name in names.split()
} | {
    "computeJointMinimalOrdering": "lcaba needs it; pc.aba solves couplings exactly, in any order of joints.",
    "convertToRigidConstraintModel": "Use pc.RigidConstraintModel(type, model, ...).",
    "lcaba": "It solves loops by constraint forces; couplings are solved exactly by pc.aba.",
    "transformJointIntoMimic": (
        "State the coupling with pc.LinearCoupling; mimic joints that a tree has already go through pc.expand_mimic."
    ),
    "loadReferenceConfigurations": (
        "A ClusterModel is immutable: call pinocchio.loadReferenceConfigurations on the pin.Model, then make the "
        "ClusterModel; its referenceConfigurations are those of the tree."
    ),
    "loadReferenceConfigurationsFromXML": "It is pinocchio.loadReferenceConfigurations from text: see there.",
    "loadRotorParameters": "No algorithm of Pinocchio uses them; rotors are pc.Rotor constraints.",
    "ConstraintCholeskyDecomposition": _CHOLESKY,
    "ContactCholeskyDecomposition": _CHOLESKY,
}


def missing(name: str) -> NoReturn:
    """Raise the error for a name that neither this package nor the installed Pinocchio has.

    Args:
        name: What was asked for, as in ``pc.name``.

    Raises:
        NotAvailableError: Another release of Pinocchio has it.
        AttributeError: No Pinocchio has it; Python itself looks for similar names when it prints this.
    """
    if name in ELSEWHERE:
        raise NotAvailableError(
            f"pin_clusters has no {name!r}: pinocchio {ELSEWHERE[name]} has it, "
            f"the installed {pin.__version__} has not."
        )
    package = sys.modules[_PACKAGE]
    raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}", name=name, obj=package)


def route(name: str) -> str:
    """Return a sentence on what to use instead of a function of Pinocchio that takes a model.

    Args:
        name: A name in ``pinocchio``, of some release.
    """
    return _ROUTES.get(
        name,
        f"there is no cluster version. On the spanning tree, without the couplings, it is pinocchio.{name} with "
        "model.tree, data.tree and the velocities of pc.spanning_velocity; pc.coupling_jacobian maps between the two.",
    )
