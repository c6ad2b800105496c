"""Errors for functions of Pinocchio that this package does not provide; the messages list replacements."""

import sys
from typing import NoReturn

import pinocchio as pin

from ..errors import NotAvailableError
from .pinocchio_names import ELSEWHERE

_PACKAGE = __name__.partition(".")[0]

_CHOLESKY = (
    "This class factorizes the mass matrix of the tree, without rotors and couplings. "
    "Use pc.computeKKTContactDynamicMatrixInverse or pc.computeDelassusMatrix, which include them."
)
_OF_MANY = {
    "Use pc.batch.{function}(model, q, v, ..., threads=n), whose rows are the states.": """
        abaInParallel rneaInParallel
    """,
    "This function belongs to a solver for frictional contacts with a Delassus matrix. pc.computeDelassusMatrix "
    "computes this matrix with the couplings; pc.constraintDynamics solves bilateral contacts.": """
        computeComplementarityShift computeConeProjection computeContactForces computeDualConeProjection
        computePrimalFeasibility computeReprojectionError
    """,
    "This function uses q of the spanning tree. Use pinocchio.{name} with model.tree.": """
        compactTangentMap findCommonAncestor getTangentToConfigurationSparsitySegment lieGroup tangentMap
        tangentMapProduct tangentMapTransposeProduct
    """,
    "This module is Pinocchio with another scalar type. pc.trace(model, function) records a function as a list of "
    "operations; pc.casadi, pc.codegen and pc.jax use such lists.": """
        cppad cppadcg mpfr
    """,
    "This function moves every joint of the tree independently. Use pc.batch.forwardKinematics(model, q, frames) with "
    "random rows q of pc.randomConfiguration(model).": """
        reachableWorkspace reachableWorkspaceHull reachableWorkspaceWithCollisions reachableWorkspaceWithCollisionsHull
    """,
}
"""Names that share a message; ``{name}`` is the name, and ``{function}`` is the name without ``InParallel``."""
_ROUTES = {
    name: text.format(name=name, function=name.removesuffix("InParallel"))
    for text, names in _OF_MANY.items()
    for name in names.split()
} | {
    "computeJointMinimalOrdering": "Only lcaba needs this order; pc.aba is exact for any order of joints.",
    "convertToRigidConstraintModel": "Use pc.RigidConstraintModel(type, model, ...).",
    "lcaba": "It solves loops by constraint forces. Use pc.aba, which solves couplings exactly.",
    "transformJointIntoMimic": (
        "Add the coupling as a pc.LinearCoupling; convert mimic joints of an existing tree with pc.expand_mimic."
    ),
    "loadReferenceConfigurations": (
        "A ClusterModel is immutable: call pinocchio.loadReferenceConfigurations on the pin.Model, then create the "
        "ClusterModel, which uses the referenceConfigurations of the tree."
    ),
    "loadReferenceConfigurationsFromXML": "It is loadReferenceConfigurations for text; see the latter.",
    "loadRotorParameters": "No algorithm of Pinocchio uses these parameters. Use pc.Rotor constraints for rotors.",
    "ConstraintCholeskyDecomposition": _CHOLESKY,
    "ContactCholeskyDecomposition": _CHOLESKY,
}


def missing(name: str) -> NoReturn:
    """Raise ``NotAvailableError`` if another release of Pinocchio has this name, otherwise ``AttributeError``."""
    if name in ELSEWHERE:
        raise NotAvailableError(
            f"pin_clusters has no {name!r}: it exists in pinocchio {ELSEWHERE[name]}, but not in the installed version "
            f"{pin.__version__}."
        )
    package = sys.modules[_PACKAGE]
    raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}", name=name, obj=package)


def route(name: str) -> str:
    """Return the sentence with the replacement for a Pinocchio function whose argument is a model."""
    return _ROUTES.get(
        name,
        f"There is no version with couplings. For the spanning tree, without couplings, use pinocchio.{name} with "
        "model.tree, data.tree and the velocities of pc.spanning_velocity; pc.coupling_jacobian maps between the two.",
    )
