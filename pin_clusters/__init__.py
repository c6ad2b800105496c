"""Exact rigid-body dynamics of robots with gears, belts and other transmissions, on top of Pinocchio."""

from __future__ import annotations

from .algorithms.aba import aba
from .algorithms.crba import crba
from .algorithms.energy import computeKineticEnergy, computeMechanicalEnergy, computePotentialEnergy
from .algorithms.minverse import computeMinverse
from .algorithms.rnea import computeGeneralizedGravity, computeStaticTorque, nonLinearEffects, rnea
from .constraints import Belt, Gear, LinearCoupling, Rotor
from .data import ClusterData
from .errors import (
    ArgumentTypeError,
    ConfigurationError,
    ConstraintError,
    DataMismatchError,
    InertiaError,
    LoadError,
    ModelError,
    NotAvailableError,
    PinClustersError,
    PinClustersWarning,
    ShapeError,
    SingularClusterError,
    UnknownNameError,
    UnsupportedJointError,
)
from .loaders import buildModelFromUrdf, buildModelFromXML, expand_mimic, load, robots
from .model import ClusterModel

__version__ = "0.1.0"
