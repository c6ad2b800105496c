"""What Pinocchio has and this package has not: where to go instead."""

import difflib
import importlib.util
import inspect
import sys
from typing import NoReturn

import pinocchio as pin

from ..errors import NotAvailableError
from .pinocchio_names import ELSEWHERE

_PACKAGE = __name__.partition(".")[0]
_BODY_REGRESSOR = (
    "It is of one body: use pinocchio.bodyRegressor(data.v[j], data.a[j] - data.oMi[j].actInv(model.gravity)) after "
    "pc.forwardKinematics(model, data, q, v, a). pc.computeJointTorqueRegressor has the columns of all of them."
)
_KINEMATIC_REGRESSOR = (
    "It is of placements of the tree, which know nothing of couplings: use pinocchio.{f}(model.tree, data.tree, ...) "
    "after pc.forwardKinematics."
)

_OF_MANY = {
    "Subtract the torques J' f of the forces that you want from those of pc.rnea, J of pc.getConstraintsJacobian; "
    "pc.constraintDynamics is the forward way.": """
        computeInverseDynamicsConstraintForces contactInverseDynamics
    """,
    "Use pc.batch.{function}(model, q, v, ..., threads=n), whose rows are the states.": """
        abaInParallel rneaInParallel
    """,
    "Three of its blocks are derivatives by tau, of pc.computeConstraintDynamicsDerivatives: ddq_dtau, -dlambda_dtau "
    "and its transpose.": """
        computeKKTContactDynamicMatrixInverse getKKTContactDynamicMatrixInverse
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
    "Multiply by G: pinocchio.{name}(model.inertia_tree, data.tree, ...) @ pc.coupling_jacobian(model, data, q) has "
    "one column per independent velocity.": """
        getJacobianSubtreeCenterOfMass jacobianSubtreeCenterOfMass
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
    "RobotWrapper": (
        "It holds a pinocchio.Model: pinocchio.RobotWrapper(model.tree) has placements and viewers, without couplings; "
        "for dynamics call pc.rnea(model, model.createData(), ...) and the like."
    ),
    "frameJacobianTimeVariation": (
        "It is pc.getFrameJacobianTimeVariation, after pc.computeJointJacobiansTimeVariation."
    ),
    "getConstraintJacobian": "Use pc.getConstraintsJacobian, with a list of one.",
    "computeJointMinimalOrdering": "lcaba needs it; pc.aba solves couplings exactly, in any order of joints.",
    "convertToRigidConstraintModel": "Use pc.RigidConstraintModel(type, model, ...).",
    "nle": "It is pc.nonLinearEffects.",
    "lcaba": "It solves loops by constraint forces; couplings are solved exactly by pc.aba.",
    "computeTotalMass": "Use pinocchio.computeTotalMass(model.inertia_tree), with the rotors given by inertia.",
    "computeSubtreeMasses": "Use pinocchio.computeSubtreeMasses(model.inertia_tree, data.tree).",
    "normalize": "Use pc.project(model, q), which also puts q on the couplings.",
    "isNormalized": "Use pinocchio.isNormalized(model.tree, q); pc.residual(model, q) tells about the couplings.",
    "isSameConfiguration": "Use pinocchio.isSameConfiguration(model.tree, q0, q1, precision): q is the whole tree's.",
    "distance": "Use numpy.linalg.norm(pc.difference(model, q0, q1)), which counts the independent joints only.",
    "squaredDistance": "Use pc.difference(model, q0, q1) ** 2, which counts the independent joints only.",
    "dIntegrateTransport": "Multiply by pc.dIntegrate(model, q, v, argument_position), with independent velocities.",
    "buildReducedModel": (
        "Lock joints in the tree, then add the constraints: "
        "pc.ClusterModel(pinocchio.buildReducedModel(tree, ids, q), constraints)."
    ),
    "appendModel": (
        "Append the trees, then add the constraints: pc.ClusterModel(pinocchio.appendModel(...), constraints)."
    ),
    "transformJointIntoMimic": (
        "State the coupling with pc.LinearCoupling; mimic joints that a tree has already go through pc.expand_mimic."
    ),
    "updateGeometryPlacements": (
        "Use pinocchio.updateGeometryPlacements(model.tree, data.tree, geometry_model, geometry_data) after "
        "pc.forwardKinematics: q is the whole tree's."
    ),
    "computeCollisions": "Use pinocchio.computeCollisions with model.tree and data.tree: q is the whole tree's.",
    "computeDistances": "Use pinocchio.computeDistances with model.tree and data.tree: q is the whole tree's.",
    "Model": "The tree is a pinocchio.Model; the robot with its transmissions is pc.ClusterModel(tree, constraints).",
    "Data": "Use data = model.createData(), a pc.ClusterData; its pinocchio.Data of the tree is data.tree.",
}
_READERS = {"mjcf": "buildModelFromMJCF", "sdf": "buildModelFromSdf", "urdf": "buildModelFromUrdf"}
_PLACES = ("Geometry", "Collision", "Distance", "ContactPatch", "BodyRadius")


def unavailable(name: str) -> NoReturn:
    """Raise the error for a name that the package does not have.

    Args:
        name: What was asked for, as in ``pc.name``.

    Raises:
        NotAvailableError: Some Pinocchio has it: the nearest route is named.
        AttributeError: No Pinocchio has it either.
    """
    here = hasattr(pin, name) or _is_module(name)
    if name.startswith("_") or not (here or name in ELSEWHERE):
        near = difflib.get_close_matches(name, [n for n in vars(sys.modules[_PACKAGE]) if n[0] != "_"])
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}.{hint}")
    whose = "pinocchio has"
    if not here:
        whose = f"pinocchio {ELSEWHERE[name]} has, the installed {pin.__version__} has not"
    raise NotAvailableError(f"pin_clusters has no {name!r} ({whose}): {route(name)}")


def _is_module(name: str) -> bool:
    """Whether it is a module of Pinocchio, which may not be imported yet."""
    return name.isidentifier() and importlib.util.find_spec(f"pinocchio.{name}") is not None


def route(name: str) -> str:
    """Return a sentence on what to use instead of a name of Pinocchio.

    Args:
        name: A name in ``pinocchio``, of some release.
    """
    if name in _ROUTES:
        return _ROUTES[name]
    thing = getattr(pin, name, None)
    if "egressor" in name:
        return (_KINEMATIC_REGRESSOR if "Kinematic" in name else _BODY_REGRESSOR).format(f=name)
    if name.startswith("buildModel") and (ours := [f for form, f in _READERS.items() if form in name.lower()]):
        return f"Use pc.{ours[0]}, which reads what ties joints as well; the tree is its model.tree."
    if name.startswith(("build", "load", "create", "remove")):
        return f"it makes no cluster model, use pinocchio.{name}; a tree goes into pc.ClusterModel(tree, constraints)."
    if any(p in name for p in _PLACES) and name.startswith("compute"):
        return (
            f"it needs placements only, use pinocchio.{name} with model.tree and data.tree after pc.forwardKinematics."
        )
    signature = ("model" if name[0].islower() else "") if thing is None else (thing.__doc__ or "").split("->")[0]
    if inspect.isclass(thing) or inspect.ismodule(thing) or _is_module(name) or "odel" not in signature:
        return f"it knows nothing of couplings, use pinocchio.{name}."
    return (
        f"there is no cluster version. On the spanning tree, without the couplings, it is pinocchio.{name} with "
        "model.tree, data.tree and the velocities of pc.spanning_velocity; pc.coupling_jacobian maps between the two."
    )
