"""Exact rigid-body dynamics of robots with gears, belts and other transmissions, on top of Pinocchio.

What Pinocchio has keeps Pinocchio's name, argument order and results; ``pin.`` becomes ``pc.``. Spatial vectors are
[linear; angular]. ``q`` is a configuration of the whole tree; ``v``, ``a`` and ``tau`` are of independent joints.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from . import batch
from ._support import moved
from ._support.version import __version__ as __version__
from .algorithms.contacts.constraint_forces import (
    ConstraintForces,
    CouplingForce,
    LoopWrench,
    RodForce,
    constraint_forces,
)
from .algorithms.contacts.contacts import (
    RigidConstraintModel,
    computeDampedDelassusMatrixInverse,
    computeDelassusMatrix,
    constraintDynamics,
    forwardDynamics,
    getConstraintsJacobian,
    impulseDynamics,
    initConstraintDynamics,
)
from .algorithms.contacts.derivatives import computeConstraintDynamicsDerivatives, computeImpulseDynamicsDerivatives

# --- algorithms: Pinocchio's names
from .algorithms.dynamics.aba import aba
from .algorithms.dynamics.all_terms import computeAllTerms
from .algorithms.dynamics.condition import ClusterCondition, condition

# --- the bridge to the spanning tree, and the motor side: names of our own
from .algorithms.dynamics.coupling import (
    coupling_bias,
    coupling_jacobian,
    independent_torque,
    independent_velocity,
    spanning_acceleration,
    spanning_velocity,
)
from .algorithms.dynamics.crba import crba
from .algorithms.dynamics.derivatives import (
    christoffel_symbols,
    computeABADerivatives,
    computeCentroidalDynamicsDerivatives,
    computeCoriolisMatrix,
    computeGeneralizedGravityDerivatives,
    computeRNEADerivatives,
    computeStaticTorqueDerivatives,
    getCentroidalDynamicsDerivatives,
    getCoriolisMatrix,
)
from .algorithms.dynamics.energy import computeKineticEnergy, computeMechanicalEnergy, computePotentialEnergy
from .algorithms.dynamics.hybrid import hybrid_dynamics
from .algorithms.dynamics.inputs import inverse_input_matrix, task_input_matrix
from .algorithms.dynamics.minverse import computeMinverse
from .algorithms.dynamics.motor import actuation_matrix, motor_torque, rotor_velocity
from .algorithms.dynamics.operational import apply_test_force, inverse_operational_inertia, operational_inertia
from .algorithms.dynamics.passive import passive_torque
from .algorithms.dynamics.ratio_derivatives import computeRatioDerivatives
from .algorithms.dynamics.rnea import computeGeneralizedGravity, computeStaticTorque, nonLinearEffects, rnea
from .algorithms.dynamics.with_independent import CoordinateChange, with_independent
from .algorithms.kinematics.centroidal import (
    ccrba,
    centerOfMass,
    computeCentroidalMap,
    computeCentroidalMapTimeVariation,
    computeCentroidalMomentum,
    computeCentroidalMomentumTimeVariation,
    dccrba,
    getCenterOfMassVelocityDerivatives,
    jacobianCenterOfMass,
)
from .algorithms.kinematics.derivatives import (
    computeForwardKinematicsDerivatives,
    getFrameAccelerationDerivatives,
    getFrameVelocityDerivatives,
    getJointAccelerationDerivatives,
    getJointVelocityDerivatives,
    getPointClassicAccelerationDerivatives,
    getPointVelocityDerivatives,
)
from .algorithms.kinematics.hessians import (
    computeJointKinematicHessians,
    getFrameKinematicHessian,
    getJointKinematicHessian,
)
from .algorithms.kinematics.jacobians import (
    computeFrameJacobian,
    computeJointJacobian,
    computeJointJacobians,
    computeJointJacobiansTimeVariation,
    getFrameJacobian,
    getFrameJacobianTimeVariation,
    getJointJacobian,
    getJointJacobianTimeVariation,
)
from .algorithms.kinematics.kinematics import (
    forwardKinematics,
    framesForwardKinematics,
    getAcceleration,
    getClassicalAcceleration,
    getFrameAcceleration,
    getFrameClassicalAcceleration,
    getFrameVelocity,
    getVelocity,
    updateFramePlacement,
    updateFramePlacements,
    updateGlobalPlacements,
)
from .algorithms.parameters.identifiable import identifiable_parameters
from .algorithms.parameters.inertial_parameters import parameters, with_parameters
from .algorithms.parameters.regressors import (
    computeJointTorqueRegressor,
    computeKineticEnergyRegressor,
    computePotentialEnergyRegressor,
    computeStaticRegressor,
)

# --- what a robot is made of
from .constraints import (
    Belt,
    Coupling,
    Differential,
    FourBar,
    Gear,
    GravityCompensation,
    LinearCoupling,
    Loop,
    Rod,
    Rotor,
    SliderCrank,
    Spring,
)

# --- errors
from .errors import (
    ArgumentTypeError,
    BranchLost,
    ConfigurationError,
    ConstraintError,
    DataMismatchError,
    ExportError,
    InertiaError,
    LoadError,
    ModelError,
    NotAvailableError,
    NotComputedError,
    PinClustersError,
    PinClustersWarning,
    RankError,
    ShapeError,
    SimulationError,
    SingularClusterError,
    TooLargeError,
    UnknownNameError,
    UnsupportedJointError,
)

# --- robots
from .files.readers import (
    buildModelFromMJCF,
    buildModelFromSdf,
    buildModelFromUrdf,
    buildModelFromXML,
    buildModelFromYAML,
    expand_mimic,
    load,
    open_robot,
    robots,
)
from .model import Cluster, ClusterData, ClusterModel, RotorElement

# --- configurations
from .model.configuration import (
    ResidualRow,
    branches,
    dDifference,
    difference,
    dIntegrate,
    integrate,
    interpolate,
    neutral,
    project,
    randomConfiguration,
    residual,
    residual_rows,
)
from .programs.specialising import specialise

# --- motion in time
from .simulation import SimulationResult, simulate

# pickles of version 0.1.0 name these modules
for _old, _new in (("data", "cluster_data"), ("elements", "elements")):
    sys.modules.setdefault(f"{__name__}.{_old}", importlib.import_module(f".model.{_new}", __name__))

__all__ = [
    "ArgumentTypeError",
    "Belt",
    "BranchLost",
    "Cluster",
    "ClusterCondition",
    "ClusterData",
    "ClusterModel",
    "ConfigurationError",
    "ConstraintError",
    "ConstraintForces",
    "CoordinateChange",
    "Coupling",
    "CouplingForce",
    "DataMismatchError",
    "Differential",
    "ExportError",
    "FourBar",
    "Gear",
    "GravityCompensation",
    "InertiaError",
    "LinearCoupling",
    "LoadError",
    "Loop",
    "LoopWrench",
    "ModelError",
    "NotAvailableError",
    "NotComputedError",
    "PinClustersError",
    "PinClustersWarning",
    "RankError",
    "ResidualRow",
    "RigidConstraintModel",
    "Rod",
    "RodForce",
    "Rotor",
    "RotorElement",
    "ShapeError",
    "SimulationError",
    "SimulationResult",
    "SingularClusterError",
    "SliderCrank",
    "Spring",
    "TooLargeError",
    "UnknownNameError",
    "UnsupportedJointError",
    "aba",
    "actuation_matrix",
    "apply_test_force",
    "batch",
    "branches",
    "buildModelFromMJCF",
    "buildModelFromSdf",
    "buildModelFromUrdf",
    "buildModelFromXML",
    "buildModelFromYAML",
    "ccrba",
    "centerOfMass",
    "christoffel_symbols",
    "computeABADerivatives",
    "computeAllTerms",
    "computeCentroidalDynamicsDerivatives",
    "computeCentroidalMap",
    "computeCentroidalMapTimeVariation",
    "computeCentroidalMomentum",
    "computeCentroidalMomentumTimeVariation",
    "computeConstraintDynamicsDerivatives",
    "computeCoriolisMatrix",
    "computeDampedDelassusMatrixInverse",
    "computeDelassusMatrix",
    "computeForwardKinematicsDerivatives",
    "computeFrameJacobian",
    "computeGeneralizedGravity",
    "computeGeneralizedGravityDerivatives",
    "computeImpulseDynamicsDerivatives",
    "computeJointJacobian",
    "computeJointJacobians",
    "computeJointJacobiansTimeVariation",
    "computeJointKinematicHessians",
    "computeJointTorqueRegressor",
    "computeKineticEnergy",
    "computeKineticEnergyRegressor",
    "computeMechanicalEnergy",
    "computeMinverse",
    "computePotentialEnergy",
    "computePotentialEnergyRegressor",
    "computeRNEADerivatives",
    "computeRatioDerivatives",
    "computeStaticRegressor",
    "computeStaticTorque",
    "computeStaticTorqueDerivatives",
    "condition",
    "constraintDynamics",
    "constraint_forces",
    "coupling_bias",
    "coupling_jacobian",
    "crba",
    "dDifference",
    "dIntegrate",
    "dccrba",
    "difference",
    "expand_mimic",
    "forwardDynamics",
    "forwardKinematics",
    "framesForwardKinematics",
    "getAcceleration",
    "getCenterOfMassVelocityDerivatives",
    "getCentroidalDynamicsDerivatives",
    "getClassicalAcceleration",
    "getConstraintsJacobian",
    "getCoriolisMatrix",
    "getFrameAcceleration",
    "getFrameAccelerationDerivatives",
    "getFrameClassicalAcceleration",
    "getFrameJacobian",
    "getFrameJacobianTimeVariation",
    "getFrameKinematicHessian",
    "getFrameVelocity",
    "getFrameVelocityDerivatives",
    "getJointAccelerationDerivatives",
    "getJointJacobian",
    "getJointJacobianTimeVariation",
    "getJointKinematicHessian",
    "getJointVelocityDerivatives",
    "getPointClassicAccelerationDerivatives",
    "getPointVelocityDerivatives",
    "getVelocity",
    "hybrid_dynamics",
    "identifiable_parameters",
    "impulseDynamics",
    "independent_torque",
    "independent_velocity",
    "initConstraintDynamics",
    "integrate",
    "interpolate",
    "inverse_input_matrix",
    "inverse_operational_inertia",
    "jacobianCenterOfMass",
    "load",
    "mechanism",
    "motor_torque",
    "neutral",
    "nonLinearEffects",
    "open_robot",
    "operational_inertia",
    "parameters",
    "passive_torque",
    "project",
    "randomConfiguration",
    "residual",
    "residual_rows",
    "rnea",
    "robots",
    "rotor_velocity",
    "simulate",
    "spanning_acceleration",
    "spanning_velocity",
    "specialise",
    "task_input_matrix",
    "to_mjcf",
    "to_urdf",
    "trace",
    "updateFramePlacement",
    "updateFramePlacements",
    "updateGlobalPlacements",
    "with_independent",
    "with_parameters",
]

if TYPE_CHECKING:
    from .files.writers import to_mjcf, to_urdf
    from .programs.tracing import trace
    from .studies.design import mechanism

# what the algorithms do not need, imported at its first use: where it is
_LAZY = {
    "approximations": "approximations", "audit": "studies.audit", "baselines": "verification.baselines",
    "codegen": "programs.codegen", "configuration": "model.configuration", "design": "studies.design",
    "loaders": "files.readers", "reference": "verification.reference", "simulation": "simulation",
    "study": "studies.study", "sweeps": "studies.sweeps", "tracing": "programs.tracing", "visualize": "visualize",
    "writers": "files.writers",
}  # fmt: skip
# and functions of such
_LAZY_FUNCTIONS = {"mechanism": "design", "to_mjcf": "writers", "to_urdf": "writers", "trace": "tracing"}
# ways to other packages, which must be there
_HOSTS = {name: f"programs.hosts.{name}" for name in ("casadi", "jax", "torch")}

moved.tell(
    __name__,
    {
        **_LAZY, **_HOSTS, "specialising": "programs.specialising",
        "algorithms.condition": "algorithms.dynamics.condition",
        "algorithms.constraint_forces": "algorithms.contacts.constraint_forces",
        "algorithms.with_independent": "algorithms.dynamics.with_independent",
    },
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a subpackage at its first use, or explain which Pinocchio function has no cluster version."""
    if name in _HOSTS:
        from ._support import extras

        extras.package(name)
    place = _LAZY.get(name) or _HOSTS.get(name)
    if place:
        return importlib.import_module(f".{place}", __name__)
    if name in _LAZY_FUNCTIONS:
        return getattr(__getattr__(_LAZY_FUNCTIONS[name]), name)
    from ._support.missing import unavailable

    return unavailable(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_LAZY, *_HOSTS, "__version__"])
