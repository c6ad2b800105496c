"""The support matrix: ``python docs/support_matrix.py`` writes ``docs/support.md``.

``EXCEPTIONS`` declares the cells of the first two tables; the third is made of the declarations of
``pin_clusters.compiler.operations``. ``docs/support_checks.py`` compares all of them with what the package does.
"""

from __future__ import annotations

from pathlib import Path

import pin_clusters as pc
from pin_clusters.compiler.operations import STATE_FUNCTIONS_BY_NAME, TRACEABLE_FUNCTIONS
from pin_clusters.export.cuda.run import _OTHERS as NOT_ON_GPU

PAGE = Path(__file__).with_name("support.md")
EXACT, APPROXIMATE, NO = "exact", "approximate", "not supported"
SIGNS = {EXACT: "✓", APPROXIMATE: "≈", NO: "✗"}

KINDS = {
    "Rotor, gear, belt": "Rotor, gear, belt",
    "Loop": "Loop",
    "Rod": "Rod",
    "Rod with mass": "Rod with mass",
    "FourBar, SliderCrank": "Four-bar",
    "Differential": "Differential",
    "Coupling (Python)": "Coupling, Python",
    "Coupling (compiled)": "Coupling, compiled",
}
"""Columns of the first table, with their titles."""
FEATURES = {
    "dynamics": "[Dynamics](api/dynamics.md): `pc.rnea`, `pc.aba`, `pc.crba`, ...",
    "derivatives": "[Derivatives of dynamics](api/derivatives.md)",
    "contacts": "[Contacts and impacts](api/contacts.md)",
    "kinematics": "[Kinematics, Jacobians](api/kinematics.md) and their derivatives",
    "configurations": "[Configurations](api/kinematics.md): integrate, difference, project",
    "forces": "[Constraint forces](api/contacts.md)",
    "regressors": "[Regressors](api/motors.md)",
    "operational": "[Operational space](api/dynamics.md)",
    "inverse kinematics": "[Inverse kinematics](api/kinematics.md)",
    "simulate": "[Simulation](simulation.md)",
    "batch": "[`pc.batch`](batch.md) on the CPU",
    "trace": "[Robot-specific code](compiled.md), `pc.trace`, `pc.batch` on a GPU",
    "motor space": "`pc.MotorSpace`",
    "to_urdf": "`pc.to_urdf`",
    "to_mjcf": '`pc.to_mjcf(model, "best")`',
    "to_mjcf exact": '`pc.to_mjcf(model, "exact")`',
    "reference": "`pc.reference`",
}
"""Rows of the first table, with their titles."""
PASSIVE_KINDS = {
    "Spring": "Spring",
    "GravityCompensation": "Gravity compensation",
    "Motor: friction": "Motor: friction",
    "Motor: losses of gears": "Motor: gear losses",
}
PASSIVE_FEATURES = {
    "passive torque": "`pc.passive_torque`",
    "passive simulate": "`pc.simulate`",
    "passive dynamics": "`pc.rnea`, `pc.aba` and their derivatives",
    "passive trace": "`pc.trace`",
    "passive to_urdf": "`pc.to_urdf`",
    "passive to_mjcf": "`pc.to_mjcf`",
}
EXCEPTIONS = {
    ("Rotor, gear, belt", "to_mjcf"): APPROXIMATE,
    ("Rod with mass", "reference"): NO,
    ("Coupling (compiled)", "trace"): NO,
    ("Coupling (compiled)", "motor space"): NO,
    **{(kind, f): NO for kind in KINDS if "Coupling" in kind for f in ("to_urdf", "to_mjcf", "to_mjcf exact")},
    **{(kind, f): NO for kind in PASSIVE_KINDS for f in ("passive dynamics", "passive trace")},
    ("GravityCompensation", "passive to_mjcf"): NO,
    ("Motor: losses of gears", "passive to_urdf"): NO,
    ("Motor: losses of gears", "passive to_mjcf"): NO,
}
"""All cells that are not exact."""
OUTPUTS = {
    "batch": "batch, CPU",
    "gpu": "batch, GPU",
    "trace": "code",
    "fext": "code with forces",
    "parameters": "code with numbers",
}
"""Columns of the table of functions."""


def declared() -> dict[tuple[str, str], str]:
    """Return the cells of the first two tables, by kind and feature."""
    tables = ((KINDS, FEATURES), (PASSIVE_KINDS, PASSIVE_FEATURES))
    cells = {(kind, feature): EXACT for kinds, features in tables for kind in kinds for feature in features}
    assert EXCEPTIONS.keys() <= cells.keys()
    return cells | EXCEPTIONS


def outputs() -> dict[str, dict[str, bool]]:
    """Return the cells of the table of functions, as the package declares them."""
    traced = {one.name: one for one in TRACEABLE_FUNCTIONS}
    states = [name for name, one in STATE_FUNCTIONS_BY_NAME.items() if one.called]
    rows = dict.fromkeys([*states, *traced, *sorted(set(pc.batch.__all__) - {"Motions", "lanes"})])
    return {
        name: {
            "batch": name in pc.batch.__all__,
            "gpu": name in pc.batch.__all__ and name not in NOT_ON_GPU,
            "trace": name in traced,
            "fext": name in traced and (traced[name].forced or "fext" in traced[name].inputs),
            "parameters": name in traced and traced[name].dynamic,
        }
        for name in rows
    }


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table whose first column is text."""
    rule = ["---", *[":---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def matrix(kinds: dict[str, str], features: dict[str, str]) -> str:
    """Return the table of some kinds and features."""
    cells = declared()
    rows = [[title, *[SIGNS[cells[kind, feature]] for kind in kinds]] for feature, title in features.items()]
    return table(["", *kinds.values()], rows)


def page() -> str:
    """Return the text of the page."""
    rows = [
        [f"`{name}`", *["✓" if cells[c] else "✗" for c in OUTPUTS]]
        for name, cells in outputs().items()
        if any(cells.values())
    ]
    return TEXT.format(
        constraints=matrix(KINDS, FEATURES),
        passive=matrix(PASSIVE_KINDS, PASSIVE_FEATURES),
        functions=table(["Function", *OUTPUTS.values()], rows),
        **{name: SIGNS[status] for name, status in (("exact", EXACT), ("approximate", APPROXIMATE), ("no", NO))},
    )


TEXT = """# Support matrix

{exact} exact, {approximate} approximate, {no} not supported. Exact means correct up to rounding errors. A function that does
not support a constraint raises an exception, usually `pc.NotAvailableError` or `pc.ConstraintError`.

## Constraints

{constraints}

- The column of gears includes `pc.LinearCoupling`, and the column of the four-bar linkage includes `pc.SliderCrank`.
- `pc.to_mjcf` writes a loop closure as an equality constraint, which MuJoCo enforces only approximately. With `"best"`,
  armature replaces the rotors.
- `pc.trace` supports a `pc.Coupling` with a Python function that uses only arithmetic, `sqrt`, `sin`, `cos` and `tan`
  and does not branch on values. For any other Python function, see the column *Coupling, compiled*.
- Robot-specific code is optional: generic kernels (`pc.engine("tables")`) support every constraint.

## Springs and motors

{passive}

- `pc.rnea`, `pc.aba` and their derivatives do not contain passive torques. Add `pc.passive_torque` to the torque of `pc.aba`.
- `pc.to_urdf` and `pc.to_mjcf` emit a warning when they leave out the losses of gears.

## Functions and outputs

This table lists the functions that support `pc.batch` or generated code. Code is generated for CasADi, PyTorch, JAX, C and
CUDA C. `pc.batch` on the CPU and CasADi compute in `float64`; the other outputs compute in `float32` or `float64`.

{functions}

- `energies` returns the kinetic and the potential energy. `tangent` is the derivative of `integrate` at zero velocity.
- In generated code, `integrate` uses a fixed number of Newton steps for closed loops.
- *Code with forces* has external forces as an input. *Code with numbers* has gravity, inertial parameters or gear
  ratios as inputs (`parameters=`).

The tests compare every cell of this page with calls for sample models. The samples of `pc.Differential` are the five-bar linkage
and the bevel gear.
"""  # noqa: E501 (lines of the page)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
