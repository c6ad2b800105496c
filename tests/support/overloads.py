"""Arguments for all forms in which Pinocchio's functions can be called."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
from support.overload_forms import Form, forms
from support.touching import pinocchio_s

__all__ = ["Arguments", "Form", "bodies", "external_forces", "forms", "numbers"]


def bodies(tree: pin.Model) -> list[int]:
    """Return the joints that carry masses."""
    return [j for j in range(1, tree.njoints) if tree.inertias[j].mass > 0.0]


def external_forces(tree: pin.Model, rows: np.ndarray) -> Any:
    """Return external forces on the bodies of a tree, as Pinocchio takes them."""
    found = pin.StdVec_Force()
    for _ in range(tree.njoints):
        found.append(pin.Force.Zero())
    for j, row in zip(bodies(tree), rows, strict=True):
        found[j] = pin.Force(row)
    return found


class Arguments:
    """Arguments by name, the same each time they are asked for."""

    def __init__(self, tree: pin.Model, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.tree = tree
        self.q = pin.integrate(tree, pin.neutral(tree), 0.3 * rng.normal(size=tree.nv))
        self.other_q = pin.integrate(tree, self.q, 0.2 * rng.normal(size=tree.nv))
        self.v, self.a, self.tau = rng.normal(size=(3, tree.nv))
        self.J, self.drift = rng.normal(size=(3, tree.nv)), rng.normal(size=3)
        self.forces = rng.normal(size=(len(bodies(tree)), 6))
        last = "slide_along" if tree.existJointName("slide_along") else tree.names[-1]  # behind joints of many kinds
        self.joint, self.frame = tree.getJointId(last), tree.getFrameId(f"{last}_body")
        self.placement = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([0.3, 0.2, 0.1]))

    @functools.cached_property
    def contacts(self) -> tuple[Any, Any]:
        """Contacts that are independent of each other, and their data."""
        kind = pin.ContactType.CONTACT_3D
        return pinocchio_s([pin.RigidConstraintModel(kind, self.tree, self.joint, self.placement, pin.LOCAL)])

    def point_contacts(self) -> tuple[Any, Any]:
        """Return a contact with friction and compliance, and new data of it."""
        models, datas = pin.StdVec_PointContactConstraintModel(), pin.StdVec_PointContactConstraintData()
        contact = pin.PointContactConstraintModel(self.tree, 0, pin.SE3.Identity(), self.joint, self.placement)
        contact.setFriction(0.5)
        contact.setCompliance(np.full(3, 1e-3))
        models.append(contact)
        datas.append(contact.createData())
        return models, datas

    def fext(self) -> Any:
        """Return external forces as Pinocchio takes them."""
        return external_forces(self.tree, self.forces)

    def values(self, form: Form) -> list[Any]:
        """Return the arguments of a form, behind model and data."""
        friction = form.function == "contactInverseDynamics"
        models, datas = self.point_contacts() if friction else self.contacts
        mu = 1e-6 if friction else 0.0
        known = {
            "q": self.q, "q1": self.q, "q2": self.other_q, "v": self.v, "v_before": self.v, "a": self.a,
            "tau": self.tau,
            "alpha": 0.3, "fext": self.fext(), "convention": pin.Convention.WORLD, "compute_subtree_coms": False,
            "kinematic_level": pin.ACCELERATION, "joint_id": self.joint, "frame_id": self.frame,
            "placement": self.placement, "frame_placement": self.placement,
            "reference_frame": pin.LOCAL_WORLD_ALIGNED, "argument_position": pin.ARG1,
            "constraint_jacobian": self.J, "constraint_drift": self.drift, "damping": 0.01,
            "restitution_coefficient": 0.2, "r_coeff": 0.2, "mu": 0.01, "scaled": False,
            "contact_models": models, "contact_datas": datas, "constraint_models": models, "constraint_datas": datas,
            "prox_settings": pin.ProximalSettings(1e-12, mu, 1), "settings": pin.ProximalSettings(1e-12, mu, 1000),
            "dt": 1e-3, "constraint_correction": np.array([0.1, 0.2, -2.0]), "lambda_guess": np.ones(3),
            "solve_ncp": True,
            "prec": 1e-9, "with_subtree": True, "subtree_root_joint_id": 3, "Jin": np.eye(self.tree.nv)[:, :3],
            "constraint_model": models[0], "constraint_data": datas[0],
            "lower_bound": np.full(self.tree.nq, -0.5), "upper_bound": np.full(self.tree.nq, 0.5),
        }  # fmt: skip
        return [known[name] for name in form.names]


def numbers(x: Any) -> np.ndarray:
    """Return an answer, or a member of data, as a vector."""
    if x is None:
        return np.zeros(0)
    if isinstance(x, pin.SE3):
        return np.array(x.homogeneous).ravel()
    if isinstance(x, (pin.Motion, pin.Force)):
        return np.array(x.vector)
    if isinstance(x, pin.Inertia):
        return np.array([x.mass, *x.lever, *x.inertia.ravel()])
    if isinstance(x, (tuple, list)) or type(x).__name__.startswith("StdVec_"):
        return np.concatenate([np.zeros(0), *map(numbers, x)])
    return np.asarray(x, dtype=float).ravel()
