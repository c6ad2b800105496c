"""Errors for functions of Pinocchio that this package lacks, with the functions to use instead."""

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
    "It is a part of a solver of contacts with friction on a Delassus matrix. pc.computeDelassusMatrix computes that "
    "matrix with the couplings; pc.constraintDynamics solves bilateral contacts.": """
        computeComplementarityShift computeConeProjection computeContactForces computeDualConeProjection
        computePrimalFeasibility computeReprojectionError
    """,
    "It takes q of the spanning tree: use pinocchio.{name} with model.tree.": """
        compactTangentMap findCommonAncestor getTangentToConfigurationSparsitySegment lieGroup tangentMap
        tangentMapProduct tangentMapTransposeProduct
    """,
    "It is Pinocchio on another scalar type. pc.trace(model, function) records a robot's function as a list of "
    "operations; pc.casadi, pc.codegen and pc.jax use it.": """
        cppad cppadcg mpfr
    """,
    "It moves every joint of the tree independently. Draw rows of pc.randomConfiguration(model), and use "
    "pc.batch.forwardKinematics(model, q, frames).": """
        reachableWorkspace reachableWorkspaceHull reachableWorkspaceWithCollisions reachableWorkspaceWithCollisionsHull
    """,
}
"""Names by their common text; ``{name}`` is the name, ``{function}`` the name without ``InParallel``."""
_ROUTES = {
    name: text.format(name=name, function=name.removesuffix("InParallel"))
    for text, names in _OF_MANY.items()
    for name in names.split()
} | {
    "computeJointMinimalOrdering": "lcaba needs it; pc.aba solves couplings exactly, in any order of joints.",
    "convertToRigidConstraintModel": "Use pc.RigidConstraintModel(type, model, ...).",
    "lcaba": "It solves loops by constraint forces; couplings are solved exactly by pc.aba.",
    "transformJointIntoMimic": (
        "Add the coupling as a pc.LinearCoupling; convert mimic joints of an existing tree with pc.expand_mimic."
    ),
    "loadReferenceConfigurations": (
        "A ClusterModel is immutable: call pinocchio.loadReferenceConfigurations on the pin.Model, then create the "
        "ClusterModel, which has the referenceConfigurations of the tree."
    ),
    "loadReferenceConfigurationsFromXML": "It is loadReferenceConfigurations from text; see there.",
    "loadRotorParameters": "No algorithm of Pinocchio uses them; rotors are pc.Rotor constraints.",
    "ConstraintCholeskyDecomposition": _CHOLESKY,
    "ContactCholeskyDecomposition": _CHOLESKY,
}


def missing(name: str) -> NoReturn:
    """Raise ``NotAvailableError`` for a name of another release of Pinocchio, else ``AttributeError``."""
    if name in ELSEWHERE:
        raise NotAvailableError(
            f"pin_clusters has no {name!r}: pinocchio {ELSEWHERE[name]} has it, but not the installed version "
            f"{pin.__version__}."
        )
    package = sys.modules[_PACKAGE]
    raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}", name=name, obj=package)


def route(name: str) -> str:
    """Return a sentence about the replacement of a function of Pinocchio that takes a model."""
    return _ROUTES.get(
        name,
        f"there is no cluster version. For the spanning tree, without the couplings, use pinocchio.{name} with "
        "model.tree, data.tree and the velocities of pc.spanning_velocity; pc.coupling_jacobian maps between the two.",
    )
