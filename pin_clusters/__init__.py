"""Exact rigid-body dynamics of robots with gears, belts and other transmissions, on top of Pinocchio.

Functions that also exist in Pinocchio keep their names, argument order and results; write ``pc.`` instead of ``pin.``.
Other Pinocchio names, such as ``pc.SE3``, are Pinocchio's own objects. Functions accept a ``ClusterModel`` or a
``pin.Model``. Spatial vectors are [linear; angular]. ``q`` contains every joint of the spanning tree; ``v``, ``a`` and
``tau`` contain only the independent joints.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from . import batch as batch
from ._support import moved
from ._support.version import __raw_version__ as __raw_version__
from ._support.version import __version__ as __version__
from .algorithms.contacts.constraint_forces import ConstraintForces as ConstraintForces
from .algorithms.contacts.constraint_forces import CouplingForce as CouplingForce
from .algorithms.contacts.constraint_forces import LoopWrench as LoopWrench
from .algorithms.contacts.constraint_forces import RodForce as RodForce
from .algorithms.contacts.constraint_forces import constraint_forces as constraint_forces
from .algorithms.contacts.contacts import RigidConstraintModel as RigidConstraintModel
from .algorithms.contacts.contacts import computeDampedDelassusMatrixInverse as computeDampedDelassusMatrixInverse
from .algorithms.contacts.contacts import computeDelassusMatrix as computeDelassusMatrix
from .algorithms.contacts.contacts import (
    computeKKTContactDynamicMatrixInverse as computeKKTContactDynamicMatrixInverse,
)
from .algorithms.contacts.contacts import constraintDynamics as constraintDynamics
from .algorithms.contacts.contacts import forwardDynamics as forwardDynamics
from .algorithms.contacts.contacts import getConstraintJacobian as getConstraintJacobian
from .algorithms.contacts.contacts import getConstraintsJacobian as getConstraintsJacobian
from .algorithms.contacts.contacts import getKKTContactDynamicMatrixInverse as getKKTContactDynamicMatrixInverse
from .algorithms.contacts.contacts import impulseDynamics as impulseDynamics
from .algorithms.contacts.contacts import initConstraintDynamics as initConstraintDynamics
from .algorithms.contacts.derivatives import (
    computeConstraintDynamicsDerivatives as computeConstraintDynamicsDerivatives,
)
from .algorithms.contacts.derivatives import computeImpulseDynamicsDerivatives as computeImpulseDynamicsDerivatives
from .algorithms.contacts.inverse import contactInverseDynamics as contactInverseDynamics

# --- algorithms that have the same names as in Pinocchio
from .algorithms.dynamics.aba import aba as aba
from .algorithms.dynamics.all_terms import FrameTerms as FrameTerms
from .algorithms.dynamics.all_terms import computeAllTerms as computeAllTerms
from .algorithms.dynamics.condition import ClusterCondition as ClusterCondition
from .algorithms.dynamics.condition import condition as condition

# --- coupling to the spanning tree and to the motors
from .algorithms.dynamics.coupling import coupling_bias as coupling_bias
from .algorithms.dynamics.coupling import coupling_jacobian as coupling_jacobian
from .algorithms.dynamics.coupling import independent_torque as independent_torque
from .algorithms.dynamics.coupling import independent_velocity as independent_velocity
from .algorithms.dynamics.coupling import spanning_acceleration as spanning_acceleration
from .algorithms.dynamics.coupling import spanning_velocity as spanning_velocity
from .algorithms.dynamics.crba import crba as crba
from .algorithms.dynamics.derivatives import christoffel_symbols as christoffel_symbols
from .algorithms.dynamics.derivatives import computeABADerivatives as computeABADerivatives
from .algorithms.dynamics.derivatives import (
    computeCentroidalDynamicsDerivatives as computeCentroidalDynamicsDerivatives,
)
from .algorithms.dynamics.derivatives import computeCoriolisMatrix as computeCoriolisMatrix
from .algorithms.dynamics.derivatives import (
    computeGeneralizedGravityDerivatives as computeGeneralizedGravityDerivatives,
)
from .algorithms.dynamics.derivatives import computeRNEADerivatives as computeRNEADerivatives
from .algorithms.dynamics.derivatives import computeStaticTorqueDerivatives as computeStaticTorqueDerivatives
from .algorithms.dynamics.derivatives import getCentroidalDynamicsDerivatives as getCentroidalDynamicsDerivatives
from .algorithms.dynamics.derivatives import getCoriolisMatrix as getCoriolisMatrix
from .algorithms.dynamics.energy import computeKineticEnergy as computeKineticEnergy
from .algorithms.dynamics.energy import computeMechanicalEnergy as computeMechanicalEnergy
from .algorithms.dynamics.energy import computePotentialEnergy as computePotentialEnergy
from .algorithms.dynamics.hybrid import hybrid_dynamics as hybrid_dynamics
from .algorithms.dynamics.inputs import inverse_input_matrix as inverse_input_matrix
from .algorithms.dynamics.inputs import task_input_matrix as task_input_matrix
from .algorithms.dynamics.minverse import computeMinverse as computeMinverse
from .algorithms.dynamics.motor import MotorPower as MotorPower
from .algorithms.dynamics.motor import actuation_matrix as actuation_matrix
from .algorithms.dynamics.motor import motor_power as motor_power
from .algorithms.dynamics.motor import motor_torque as motor_torque
from .algorithms.dynamics.motor import rotor_velocity as rotor_velocity
from .algorithms.dynamics.operational import apply_test_force as apply_test_force
from .algorithms.dynamics.operational import inverse_operational_inertia as inverse_operational_inertia
from .algorithms.dynamics.operational import operational_inertia as operational_inertia
from .algorithms.dynamics.passive import passive_torque as passive_torque
from .algorithms.dynamics.points import PointResponse as PointResponse
from .algorithms.dynamics.points import point_response as point_response
from .algorithms.dynamics.ratio_derivatives import computeRatioDerivatives as computeRatioDerivatives
from .algorithms.dynamics.rnea import computeGeneralizedGravity as computeGeneralizedGravity
from .algorithms.dynamics.rnea import computeStaticTorque as computeStaticTorque
from .algorithms.dynamics.rnea import nle as nle
from .algorithms.dynamics.rnea import nonLinearEffects as nonLinearEffects
from .algorithms.dynamics.rnea import rnea as rnea
from .algorithms.dynamics.with_independent import CoordinateChange as CoordinateChange
from .algorithms.dynamics.with_independent import with_independent as with_independent
from .algorithms.kinematics.centroidal import ccrba as ccrba
from .algorithms.kinematics.centroidal import centerOfMass as centerOfMass
from .algorithms.kinematics.centroidal import computeCentroidalMap as computeCentroidalMap
from .algorithms.kinematics.centroidal import computeCentroidalMapTimeVariation as computeCentroidalMapTimeVariation
from .algorithms.kinematics.centroidal import computeCentroidalMomentum as computeCentroidalMomentum
from .algorithms.kinematics.centroidal import (
    computeCentroidalMomentumTimeVariation as computeCentroidalMomentumTimeVariation,
)
from .algorithms.kinematics.centroidal import dccrba as dccrba
from .algorithms.kinematics.centroidal import getCenterOfMassVelocityDerivatives as getCenterOfMassVelocityDerivatives
from .algorithms.kinematics.centroidal import jacobianCenterOfMass as jacobianCenterOfMass
from .algorithms.kinematics.derivatives import (
    computeForwardKinematicsDerivatives as computeForwardKinematicsDerivatives,
)
from .algorithms.kinematics.derivatives import getFrameAccelerationDerivatives as getFrameAccelerationDerivatives
from .algorithms.kinematics.derivatives import getFrameVelocityDerivatives as getFrameVelocityDerivatives
from .algorithms.kinematics.derivatives import getJointAccelerationDerivatives as getJointAccelerationDerivatives
from .algorithms.kinematics.derivatives import getJointVelocityDerivatives as getJointVelocityDerivatives
from .algorithms.kinematics.derivatives import (
    getPointClassicAccelerationDerivatives as getPointClassicAccelerationDerivatives,
)
from .algorithms.kinematics.derivatives import getPointVelocityDerivatives as getPointVelocityDerivatives
from .algorithms.kinematics.hessians import computeJointKinematicHessians as computeJointKinematicHessians
from .algorithms.kinematics.hessians import getFrameKinematicHessian as getFrameKinematicHessian
from .algorithms.kinematics.hessians import getJointKinematicHessian as getJointKinematicHessian
from .algorithms.kinematics.inverse import InverseKinematics as InverseKinematics
from .algorithms.kinematics.inverse import inverse_kinematics as inverse_kinematics
from .algorithms.kinematics.jacobians import computeFrameJacobian as computeFrameJacobian
from .algorithms.kinematics.jacobians import computeJointJacobian as computeJointJacobian
from .algorithms.kinematics.jacobians import computeJointJacobians as computeJointJacobians
from .algorithms.kinematics.jacobians import computeJointJacobiansTimeVariation as computeJointJacobiansTimeVariation
from .algorithms.kinematics.jacobians import frameJacobianTimeVariation as frameJacobianTimeVariation
from .algorithms.kinematics.jacobians import getFrameJacobian as getFrameJacobian
from .algorithms.kinematics.jacobians import getFrameJacobianTimeVariation as getFrameJacobianTimeVariation
from .algorithms.kinematics.jacobians import getJointJacobian as getJointJacobian
from .algorithms.kinematics.jacobians import getJointJacobianTimeVariation as getJointJacobianTimeVariation
from .algorithms.kinematics.kinematics import forwardKinematics as forwardKinematics
from .algorithms.kinematics.kinematics import framesForwardKinematics as framesForwardKinematics
from .algorithms.kinematics.kinematics import getAcceleration as getAcceleration
from .algorithms.kinematics.kinematics import getClassicalAcceleration as getClassicalAcceleration
from .algorithms.kinematics.kinematics import getFrameAcceleration as getFrameAcceleration
from .algorithms.kinematics.kinematics import getFrameClassicalAcceleration as getFrameClassicalAcceleration
from .algorithms.kinematics.kinematics import getFrameVelocity as getFrameVelocity
from .algorithms.kinematics.kinematics import getVelocity as getVelocity
from .algorithms.kinematics.kinematics import updateFramePlacement as updateFramePlacement
from .algorithms.kinematics.kinematics import updateFramePlacements as updateFramePlacements
from .algorithms.kinematics.kinematics import updateGlobalPlacements as updateGlobalPlacements
from .algorithms.kinematics.subtrees import computeSubtreeMasses as computeSubtreeMasses
from .algorithms.kinematics.subtrees import computeSupportedForceByFrame as computeSupportedForceByFrame
from .algorithms.kinematics.subtrees import computeSupportedInertiaByFrame as computeSupportedInertiaByFrame
from .algorithms.kinematics.subtrees import computeTotalMass as computeTotalMass
from .algorithms.kinematics.subtrees import frameBodyRegressor as frameBodyRegressor
from .algorithms.kinematics.subtrees import getJacobianSubtreeCenterOfMass as getJacobianSubtreeCenterOfMass
from .algorithms.kinematics.subtrees import jacobianSubtreeCenterOfMass as jacobianSubtreeCenterOfMass
from .algorithms.kinematics.subtrees import jointBodyRegressor as jointBodyRegressor
from .algorithms.parameters.identifiable import identifiable_parameters as identifiable_parameters
from .algorithms.parameters.inertial_parameters import parameters as parameters
from .algorithms.parameters.inertial_parameters import with_parameters as with_parameters
from .algorithms.parameters.regressors import computeJointTorqueRegressor as computeJointTorqueRegressor
from .algorithms.parameters.regressors import computeKineticEnergyRegressor as computeKineticEnergyRegressor
from .algorithms.parameters.regressors import computePotentialEnergyRegressor as computePotentialEnergyRegressor
from .algorithms.parameters.regressors import computeStaticRegressor as computeStaticRegressor
from .compiler import choice
from .compiler.choice import engine as engine
from .compiler.specialising import specialise as specialise
from .compiler.versions import show_versions as show_versions

# --- constraints and elements of a robot
from .constraints import Belt as Belt
from .constraints import Coupling as Coupling
from .constraints import Differential as Differential
from .constraints import FourBar as FourBar
from .constraints import Gear as Gear
from .constraints import GravityCompensation as GravityCompensation
from .constraints import LinearCoupling as LinearCoupling
from .constraints import Loop as Loop
from .constraints import Motor as Motor
from .constraints import Rod as Rod
from .constraints import Rotor as Rotor
from .constraints import SliderCrank as SliderCrank
from .constraints import Spring as Spring
from .constraints import motors as motors

# --- errors
from .errors import ArgumentTypeError as ArgumentTypeError
from .errors import BranchLost as BranchLost
from .errors import ConfigurationError as ConfigurationError
from .errors import ConstraintError as ConstraintError
from .errors import DataMismatchError as DataMismatchError
from .errors import ExportError as ExportError
from .errors import InertiaError as InertiaError
from .errors import LoadError as LoadError
from .errors import ModelError as ModelError
from .errors import NotAvailableError as NotAvailableError
from .errors import NotComputedError as NotComputedError
from .errors import PinClustersError as PinClustersError
from .errors import PinClustersWarning as PinClustersWarning
from .errors import RankError as RankError
from .errors import ShapeError as ShapeError
from .errors import SimulationError as SimulationError
from .errors import SingularClusterError as SingularClusterError
from .errors import TooLargeError as TooLargeError
from .errors import UnknownNameError as UnknownNameError
from .errors import UnsupportedJointError as UnsupportedJointError

# --- robots
from .files.readers import buildModelFromMJCF as buildModelFromMJCF
from .files.readers import buildModelFromSdf as buildModelFromSdf
from .files.readers import buildModelFromUrdf as buildModelFromUrdf
from .files.readers import buildModelFromXML as buildModelFromXML
from .files.readers import buildModelFromYAML as buildModelFromYAML
from .files.readers import expand_mimic as expand_mimic
from .files.readers import load as load
from .files.readers import open_robot as open_robot
from .files.readers import robots as robots
from .model import Cluster as Cluster
from .model import ClusterData as ClusterData
from .model import ClusterModel as ClusterModel
from .model import Data as Data
from .model import RotorElement as RotorElement
from .model import appendModel as appendModel
from .model import buildReducedModel as buildReducedModel

# --- configurations
from .model.configuration import ResidualRow as ResidualRow
from .model.configuration import branches as branches
from .model.configuration import dDifference as dDifference
from .model.configuration import difference as difference
from .model.configuration import dIntegrate as dIntegrate
from .model.configuration import dIntegrateTransport as dIntegrateTransport
from .model.configuration import distance as distance
from .model.configuration import integrate as integrate
from .model.configuration import interpolate as interpolate
from .model.configuration import isNormalized as isNormalized
from .model.configuration import isSameConfiguration as isSameConfiguration
from .model.configuration import neutral as neutral
from .model.configuration import normalize as normalize
from .model.configuration import project as project
from .model.configuration import randomConfiguration as randomConfiguration
from .model.configuration import residual as residual
from .model.configuration import residual_rows as residual_rows
from .model.configuration import squaredDistance as squaredDistance

# --- simulation
from .simulation import ContactPoints as ContactPoints
from .simulation import Ground as Ground
from .simulation import SimulationResult as SimulationResult
from .simulation import Touchdown as Touchdown
from .simulation import contact_points as contact_points
from .simulation import on_ground as on_ground
from .simulation import simulate as simulate

if TYPE_CHECKING:
    from pinocchio import *  # noqa: F403 (Pinocchio's names are re-exported)

    from .compiler.tracing import trace as trace
    from .export.motor_space import MotorSpace as MotorSpace
    from .files.merging import into_mjcf as into_mjcf
    from .files.writers import to_mjcf as to_mjcf
    from .files.writers import to_urdf as to_urdf
    from .robot_wrapper import RobotWrapper as RobotWrapper
    from .robot_wrapper import buildModelsFromUrdf as buildModelsFromUrdf
    from .studies.design import mechanism as mechanism
    from .studies.identify import identify as identify
    from .studies.study import efficiency as efficiency
    from .worlds import Drive as Drive
    from .worlds import Worlds as Worlds
    from .worlds import read_controls as read_controls

# Subpackages that the algorithms do not need are imported from these paths when they are first used.
_LAZY = {
    "approximations": "approximations", "atlas": "studies.atlas", "audit": "studies.audit",
    "baselines": "verification.baselines", "codegen": "export.codegen", "configuration": "model.configuration",
    "design": "studies.design", "identification": "studies.identify", "loaders": "files.readers",
    "merging": "files.merging", "motor_space": "export.motor_space", "reference": "verification.reference",
    "robot_wrapper": "robot_wrapper",
    "simulation": "simulation", "study": "studies.study", "sweeps": "studies.sweeps", "tracing": "compiler.tracing",
    "visualize": "visualize", "worlds": "worlds", "writers": "files.writers",
}  # fmt: skip
# Functions of these subpackages; a subpackage is imported when one of its functions is first used.
_LAZY_FUNCTIONS = {
    "Drive": "worlds",
    "MotorSpace": "motor_space",
    "RobotWrapper": "robot_wrapper",
    "Worlds": "worlds",
    "buildModelsFromUrdf": "robot_wrapper",
    "efficiency": "study",
    "identify": "identification",
    "into_mjcf": "merging",
    "mechanism": "design",
    "read_controls": "worlds",
    "to_mjcf": "writers",
    "to_urdf": "writers",
    "trace": "tracing",
}
# Public names: the names imported above and the names in _LAZY_FUNCTIONS.
_OWN = [name for name, x in globals().items() if str(getattr(x, "__module__", "")).startswith(f"{__name__}.")]
__all__ = sorted([*_OWN, "batch", *_LAZY_FUNCTIONS])
# Modules that connect this package to other packages, which must be installed separately.
_HOSTS = {n: f"export.hosts.{n}" for n in ("casadi", "jax", "torch")} | {
    n: n for n in ("crocoddyl", "gym", "mujoco", "pink", "unisim")
}

# Pickle files written by earlier versions contain the old module paths.
choice.make_by(f"{__name__}.compiler.specialising.robot_functions", "RobotFunctions")
moved.lead(
    __name__,
    {
        **_LAZY, **_HOSTS, "algorithms.condition": "algorithms.dynamics.condition",
        "algorithms.constraint_forces": "algorithms.contacts.constraint_forces",
        "algorithms.with_independent": "algorithms.dynamics.with_independent", "data": "model.cluster_data",
        "elements": "model.elements", "null_space": "verification.null_space", "rivals": "verification.peers",
        "programs.machine_code": "compiler.machine_code", "programs.specialising": "compiler.specialising",
        "programs.tracing": "compiler.tracing", "programs": "export",
        "specialising": "compiler.specialising", "timing": "verification.timing",
    },
    {
        "configuration._affine": "model.configuration._shortest", "constraints._derivatives": "constraints._functions",
        "constraints._linkage": "constraints._planar", "loaders.mjcf._polynomial": "files.readers.mjcf._relations",
        "model.assembly.clusters": "model.assembly.subtree", "model.regressor_memory": "model.regressor_tables",
        "study.metrics.forward": "studies.study.metrics.dynamics",
        "study.metrics.inverse": "studies.study.metrics.dynamics",
        "studies.study.published": "studies.study.paper.published",
        "studies.study.rungs": "studies.study.approximate_dynamics",
    },
    _HOSTS,
)  # fmt: skip


# ``import pin_clusters.utils`` and similar imports return Pinocchio's modules.
sys.meta_path.append(moved.Passing(__name__, "pinocchio"))


def __getattr__(name: str) -> Any:
    """Import a subpackage when it is first used, or return the Pinocchio object with this name."""
    if name in _HOSTS:
        from ._support import extras

        extras.package("gymnasium" if name == "gym" else name)
    path = _LAZY.get(name) or _HOSTS.get(name)
    if path:
        return importlib.import_module(f".{path}", __name__)
    if name in _LAZY_FUNCTIONS:
        return getattr(__getattr__(_LAZY_FUNCTIONS[name]), name)
    from .algorithms.passed import passed

    globals()[name] = value = passed(name)
    return value


def __dir__() -> list[str]:
    import pinocchio as pin

    pinocchio_names = [name for name in dir(pin) if not name.startswith("_")]
    return sorted({*__all__, *_LAZY, *_HOSTS, "__version__", *pinocchio_names})
