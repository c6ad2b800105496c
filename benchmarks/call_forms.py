"""The calls that ``calls.py`` measures: forms of functions, their arguments, and the calls that they require."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import coal
import numpy as np
import pinocchio as pin
from support.overload_forms import Form, forms

import pin_clusters as pc

REASONS = {
    "reads a file": "buildGeomFromMJCF buildGeomFromUrdf buildGeomFromUrdfString buildModelFromMJCF buildModelFromUrdf "
    "buildModelFromXML buildModelsFromUrdf loadReferenceConfigurations loadReferenceConfigurationsFromXML "
    "loadRotorParameters removeCollisionPairs removeCollisionPairsFromXML",
    "creates a model, shapes or a contact": "appendModel buildReducedModel buildSampleGeometryModelHumanoid "
    "buildSampleGeometryModelManipulator convertToRigidConstraintModel transformJointIntoMimic",
    "raises NotAvailableError for a ClusterModel": "compactTangentMap computeJointMinimalOrdering lcaba lieGroup "
    "getTangentToConfigurationSparsitySegment tangentMap tangentMapProduct tangentMapTransposeProduct",
    "runs in threads": "computeCollisionsInParallel",
}
LEFT_OUT = {name: reason for reason, names in REASONS.items() for name in sorted(names.split())}
"""Functions of both packages that are not measured, with the reason."""

STATE = "computeForwardKinematicsDerivatives(model, data, q, v, a)"
BEFORE = (
    (".*acobianSubtreeCenterOfMass", "jacobianCenterOfMass(model, data, q)"),
    ("getCenterOfMassVelocityDerivatives", STATE),
    ("getCenterOfMassVelocityDerivatives", "centerOfMass(model, data, q, v)"),
    ("getCoriolisMatrix|getCentroidalDynamicsDerivatives", "computeRNEADerivatives(model, data, q, v, a)"),
    ("get(Joint|Frame|Point).*Derivatives", STATE),
    ("get(Joint|Frame)Jacobian", "computeJointJacobians(model, data, q)"),
    ("computeJointKinematicHessians|jacobianCenterOfMass", "computeJointJacobians(model, data, q)"),
    ("get(Joint|Frame)JacobianTimeVariation", "computeJointJacobiansTimeVariation(model, data, q, v)"),
    ("get.*KinematicHessian", "computeJointKinematicHessians(model, data, q)"),
    ("getFrame(Jacobian.*|Kinematic.*|.*Derivatives)", "updateFramePlacements(model, data)"),
    ("computeABADerivatives|computeMinverse", "aba(model, data, q, v, tau, Convention_WORLD)"),
    ("forwardDynamics|impulseDynamics|getKKT.*", "computeAllTerms(model, data, q, v)"),
    ("getKKT.*", "forwardDynamics(model, data, q, v, tau, constraint_jacobian, constraint_drift)"),
    (".*BodyRegressor|computeSupported.*", "rnea(model, data, q, v, a)"),
    (
        "get(Frame)?(Classical)?(Velocity|Acceleration)|update.*|centerOfMass|compute.*Energy|.*KinematicRegressor|"
        "computeCentroidalMomentum.*|computeJointJacobians",
        "forwardKinematics(model, data, q, v, a)",
    ),
)  # fmt: skip
"""Functions, and a call that their forms without q require."""
CONTACTS = "model, data, q, v, {}contact_models, contact_datas, {}settings"
BEFORE_CONTACTS = {
    "computeConstraintDynamicsDerivatives": f"constraintDynamics({CONTACTS.format('tau, ', '')})",
    "computeImpulseDynamicsDerivatives": f"impulseDynamics({CONTACTS.format('', '0.2, ')})",
    "getConstraintJacobian": "computeJointJacobians(model, data, q)",
    "getConstraintsJacobian": "computeJointJacobians(model, data, q)",
}
"""Functions of contacts, and the call that they require after ``initConstraintDynamics``."""
LEVELS = {"POSITION": pin.POSITION, "VELOCITY": pin.VELOCITY, "ACCELERATION": pin.ACCELERATION}
FRAMES = {"LOCAL": pin.LOCAL, "WORLD": pin.WORLD, "LOCAL_WORLD_ALIGNED": pin.LOCAL_WORLD_ALIGNED}
CONSTANTS: dict[str, Any] = {
    **LEVELS, **FRAMES, "ARG0": pin.ARG0, "ARG1": pin.ARG1, "Convention_LOCAL": pin.Convention.LOCAL,
    "Convention_WORLD": pin.Convention.WORLD, "array": np.array, "float": float, "True": True, "False": False,
}  # fmt: skip
VARIANTS = {
    "reference_frame": [*FRAMES], "kinematic_level": [*LEVELS, "int(POSITION)"], "argument_position": ["ARG0", "ARG1"],
    "convention": ["Convention_WORLD", "Convention_LOCAL"], "compute_subtree_coms": ["False", "True"],
    "alpha": ["0.3"], "damping": ["0.01"], "restitution_coefficient": ["0.2"], "r_coeff": ["0.2"], "scaled": ["False"],
    "dt": ["1e-3"], "solve_ncp": ["True"], "prec": ["1e-9"], "with_subtree": ["True"], "mu": ["0.01"],
    "prox_settings": ["settings", "settings_with_mu"], "settings": ["settings", "settings_with_mu"],
    "stop_at_first_collision": ["False"],
}  # fmt: skip
"""Arguments whose values are written in the call, with all values that are measured."""
ARRAYS = {
    "q", "q1", "q2", "v", "v_before", "a", "tau", "constraint_jacobian", "constraint_drift", "Jin", "lower_bound",
    "upper_bound", "constraint_correction", "lambda_guess",
}  # fmt: skip
FORMS_OF_ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": np.ndarray.tolist,
    "float32": lambda x: x.astype(np.float32),
    "strided": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "columns": lambda x: x.reshape(-1, 1) if x.ndim == 1 else x,
}
FORMS_OF_FORCES = {"list of Force": "fext_list", "(njoints, 6) array": "fext_rows"}
TAKES_OUT = set(
    "aba computeGeneralizedGravity computeMinverse computeStaticTorque crba nle nonLinearEffects rnea".split()
)
PLACEMENT = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([0.3, 0.2, 0.1]))
VARIABLE = re.compile(r"(?<![.\w])[A-Za-z]\w*\b(?![=(])")

LIMIT = 1.5
EXCEPTIONS = {"createData": 5.0}
EXCEPTIONS_ON_LOOPS = {"integrate": 5.0, "difference": 5.0, "interpolate": 5.0, "randomConfiguration": 50.0}


def limit(function: str, loops: bool) -> float:
    """Return the largest allowed ratio of a function to Pinocchio's, on a robot with or without closed loops."""
    return EXCEPTIONS.get(function, EXCEPTIONS_ON_LOOPS.get(function, LIMIT) if loops else LIMIT)


class Call(NamedTuple):
    """A row of the table.

    Attributes:
        function: The name of the function.
        text: The call without model and data.
        style: How the arguments are given.
        statements: Python code. This package runs the first statement; Pinocchio runs the first that it accepts.
        before: Statements that must run before.
    """

    function: str
    text: str
    style: str
    statements: tuple[str, ...]
    before: tuple[str, ...]

    @property
    def key(self) -> str:
        """The text and the style."""
        return f"{self.text}, {self.style}"


def functions() -> list[str]:
    """Return the public functions that both packages have and that depend on a model."""
    both = [name for name in dir(pc) if not name.startswith("_") and hasattr(pin, name)]
    own = [name for name in both if getattr(pc, name) is not getattr(pin, name) and callable(getattr(pc, name))]
    return [name for name in own if not inspect.isclass(getattr(pin, name))]


def missing() -> list[str]:
    """Return the functions that are neither measured nor left out with a reason."""
    return sorted(set(functions()) - {call.function for call in calls()} - set(LEFT_OUT))


def calls() -> list[Call]:
    """Return all rows of the table."""
    found = [Call("createData", "createData()", "positional", ("model.createData()",), ())]
    for name in functions():
        listed = [] if name in LEFT_OUT else _forms(name)
        for form in listed:
            chosen = [x for x in form.names if x in VARIANTS]
            variants = [{x: VARIANTS[x][0] for x in chosen}]
            variants += [variants[0] | {x: other} for x in chosen for other in VARIANTS[x][1:]]
            without_data = len({x.needs_data for x in listed}) > 1 and not form.needs_data
            for k, variant in enumerate(variants):
                given = [variant.get(x, x) for x in form.names]
                text = f"{name}({'without data' if without_data else ', '.join(given)})".replace(
                    "Convention_", "Convention."
                )
                for style in _styles(form, listed) if k == 0 else ["positional"]:
                    found.append(Call(name, text, style, _statements(form, given, style), _before(form)))
    return found


def _forms(name: str) -> list[Form]:
    """Return the forms of a function. Two docstrings of Pinocchio name another function, or wrong arguments."""
    if name == "nle":
        return [form._replace(function=name) for form in forms("nonLinearEffects")]
    if name == "initConstraintDynamics":
        return [Form(name, ("contact_models", "contact_datas"), True)]
    return [form for form in forms(name) if "broadphase_manager" not in form.names]


def _styles(form: Form, listed: list[Form]) -> Iterator[str]:
    """Yield the styles of a form. Keywords are measured for two forms of a function, other arrays for one form."""
    yield "positional"
    longest = max(listed, key=lambda x: len(x.names))
    simplest = max(listed, key=lambda x: (len(ARRAYS & set(x.names)), "mu" in x.names, -len(x.names)))
    if form in (longest, simplest):
        yield from ("keywords", "all keywords")[not form.names :]
    if "fext" in form.names:
        yield from FORMS_OF_FORCES
    if form is longest and any(x.endswith("_models") for x in form.names):
        yield "list of contacts"
    if form is simplest and ARRAYS & set(form.names):
        yield from FORMS_OF_ARRAYS
    if form is simplest and form.function in TAKES_OUT:
        yield "out="


def _statements(form: Form, given: list[str], style: str) -> tuple[str, ...]:
    """Return the statements of a call: in the style, with arrays that Pinocchio accepts, positional."""
    first = ["model", "data"][: 1 + form.needs_data]
    own = converted = [*first, *given]
    if style == "keywords":
        own = [*first, *map("=".join, zip(form.names, given, strict=True))]
    elif style == "all keywords":
        own = [*map("=".join, zip([*first, *form.names], own, strict=True))]
    elif style == "out=":
        own = [*own, "out=out"]
    elif style in FORMS_OF_FORCES:
        own = [FORMS_OF_FORCES[style] if x == "fext" else x for x in own]
    elif style == "list of contacts":
        own = [f"{x}_list" if x.endswith(("_models", "_datas")) else x for x in own]
    elif style in FORMS_OF_ARRAYS:
        own = [f"{x}_{style}" if x in ARRAYS else x for x in own]
        converted = [f"array({x}_{style}, float)" if x in ARRAYS else x for x in converted]
    return tuple(dict.fromkeys(f"f({', '.join(x)})" for x in (own, converted, [*first, *given])))


def _before(form: Form) -> tuple[str, ...]:
    """Return the statements that must run before a form."""
    name = form.function
    if any(x.startswith(("contact_model", "constraint_model")) for x in form.names):
        before = ["initConstraintDynamics(model, data, contact_models, contact_datas)", BEFORE_CONTACTS.get(name, "")]
        needs_none = name in ("initConstraintDynamics", "contactInverseDynamics")
        return () if needs_none else tuple(f"package.{text}" for text in before if text)
    needs_state = form.needs_data and "q" not in form.names
    return tuple(f"package.{text}" for pattern, text in BEFORE if needs_state and re.fullmatch(pattern, name))


class Side:
    """A package, with a model and the arguments of a state.

    Args:
        package: ``pin_clusters`` or ``pinocchio``.
        model: A model of this package.
        state: q, another q, v, a.
        joint: The name of the joint of getters and contacts.
        rows: The number of rows of the dense constraint Jacobian, at most 3.
    """

    def __init__(self, package: Any, model: Any, state: tuple[np.ndarray, ...], joint: str, rows: int) -> None:
        self.package, self.model, tree = package, model, getattr(model, "tree", model)
        self.tree, self.joint, rng = tree, tree.getJointId(joint), np.random.default_rng(1)
        bodies = np.array([inertia.mass > 0.0 for inertia in tree.inertias])
        forces = rng.standard_normal((tree.njoints, 6)) * bodies[:, None]
        q, other_q, v, a = state
        shapes = pin.GeometryModel()
        for k, of in enumerate((1, self.joint)):
            shapes.addGeometryObject(pin.GeometryObject(f"ball {k}", of, pin.SE3.Identity(), coal.Sphere(0.01)))
        shapes.addAllCollisionPairs()
        # with fewer independent joints than rows, the equations of a contact have a solution only with mu > 0
        mu = 0.0 if rows == 3 else 1e-6
        self.known: dict[str, Any] = {
            "q": q, "q1": q, "q2": other_q, "v": v, "v_before": v, "a": a, "tau": a, "Jin": np.eye(model.nv)[:, :3],
            "constraint_jacobian": rng.standard_normal((rows, model.nv)), "constraint_drift": rng.standard_normal(rows),
            "lower_bound": np.full(model.nq, -0.5), "upper_bound": np.full(model.nq, 0.5), "lambda_guess": np.ones(3),
            "constraint_correction": np.array([0.1, 0.2, -2.0]), "joint_id": self.joint, "joint1_id": self.joint,
            "joint2_id": 1, "subtree_root_joint_id": self.joint, "placement": PLACEMENT, "frame_placement": PLACEMENT,
            "frame_id": next(k for k, frame in enumerate(tree.frames) if frame.parentJoint == self.joint),
            "settings": pin.ProximalSettings(1e-12, mu, 10), "settings_with_mu": pin.ProximalSettings(1e-12, 1e-6, 10),
            "fext_list": [pin.Force(row) for row in forces], "fext_rows": forces, "fext": pin.StdVec_Force(),
            "geometry_model": shapes, "geometry_data": shapes.createData(),
        }  # fmt: skip
        self.known["fext"].extend(self.known["fext_list"])

    def variables(self, call: Call, statement: str) -> dict[str, Any]:
        """Return the variables of a statement and of the statements before it, with new data."""
        found = CONSTANTS | {"model": self.model, "data": self.model.createData(), "package": self.package}
        found["f"] = getattr(self.package, call.function, None)
        known = self.known | self._contacts(call.function == "contactInverseDynamics")
        if call.function == "contactInverseDynamics":
            known["settings"] = known["settings_with_mu"]  # The function requires mu > 0.
        known["out"] = np.zeros((self.model.nv,) * (2 if call.function in ("crba", "computeMinverse") else 1))
        for name in VARIABLE.findall(" ".join([statement, *call.before])):
            base, _, form = name.rpartition("_")
            if name not in found:
                found[name] = FORMS_OF_ARRAYS[form](known[base]) if form in FORMS_OF_ARRAYS else known[name]
        return found

    def _contacts(self, with_friction: bool) -> dict[str, Any]:
        """Return a contact at a point of the joint's body and its data, by the names of arguments."""
        if with_friction:
            models, datas = pin.StdVec_PointContactConstraintModel(), pin.StdVec_PointContactConstraintData()
            contact = pin.PointContactConstraintModel(self.tree, 0, pin.SE3.Identity(), self.joint, PLACEMENT)
            contact.setFriction(0.5)
            contact.setCompliance(np.full(3, 1e-3))
        else:
            models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
            kind = pin.ContactType.CONTACT_3D
            contact = pin.RigidConstraintModel(kind, self.tree, self.joint, PLACEMENT, pin.LOCAL)
        models.append(contact)
        datas.append(contact.createData())
        found = {"constraint_model": models[0], "constraint_data": datas[0]}
        for kind in ("contact", "constraint"):
            found |= {f"{kind}_models": models, f"{kind}_datas": datas}
            found |= {f"{kind}_models_list": list(models), f"{kind}_datas_list": list(datas)}
        return found
