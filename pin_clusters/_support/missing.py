"""Errors for functions of Pinocchio that do not accept a ``ClusterModel``; the messages suggest replacements."""

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
    "Use pc.batch.{function}(model, q, v, ..., threads=n), with one state per row of q and v.": """
        abaInParallel rneaInParallel
    """,
    "This function is part of a solver for frictional contacts with a Delassus matrix. pc.computeDelassusMatrix "
    "computes this matrix with couplings; pc.constraintDynamics solves bilateral contacts.": """
        computeComplementarityShift computeConeProjection computeContactForces computeDualConeProjection
        computePrimalFeasibility computeReprojectionError
    """,
    "This function uses q of the spanning tree. Use pinocchio.{name} with model.tree.": """
        compactTangentMap findCommonAncestor getTangentToConfigurationSparsitySegment lieGroup tangentMap
        tangentMapProduct tangentMapTransposeProduct
    """,
    "This module is Pinocchio with another scalar type. Use pc.casadi, pc.codegen or pc.jax, or record the operations "
    "of a function with pc.trace(model, function).": """
        cppad cppadcg mpfr
    """,
    "This function assumes that all tree joints are independent. Use pc.batch.forwardKinematics(model, q, frames) with "
    "random rows q of pc.randomConfiguration(model).": """
        reachableWorkspace reachableWorkspaceHull reachableWorkspaceWithCollisions reachableWorkspaceWithCollisionsHull
    """,
}
"""Dictionary from messages to names. ``{name}`` is the name, and ``{function}`` is the name without ``InParallel``."""
_ROUTES = {
    name: text.format(name=name, function=name.removesuffix("InParallel"))
    for text, names in _OF_MANY.items()
    for name in names.split()
} | {
    "computeJointMinimalOrdering": "Only lcaba needs this order; pc.aba is exact for any order of joints.",
    "convertToRigidConstraintModel": "Use pc.RigidConstraintModel(type, model, ...).",
    "lcaba": "Pinocchio's lcaba solves loops by constraint forces. Use pc.aba, which is exact for loops and couplings.",
    "transformJointIntoMimic": (
        "Add the coupling as a pc.LinearCoupling; convert mimic joints of an existing tree with pc.expand_mimic."
    ),
    "loadReferenceConfigurations": (
        "A ClusterModel is immutable: call pinocchio.loadReferenceConfigurations on the pin.Model, then create the "
        "ClusterModel, which uses the referenceConfigurations of the tree."
    ),
    "loadReferenceConfigurationsFromXML": "Use this function on the pin.Model, then create the ClusterModel.",
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
    """Return a sentence that suggests a replacement for a Pinocchio function that requires a ``pin.Model``."""
    return _ROUTES.get(
        name,
        f"No version of it includes couplings. For the spanning tree without couplings, use pinocchio.{name} with "
        "model.tree, data.tree and the velocity pc.spanning_velocity(model, data, q, v).",
    )
