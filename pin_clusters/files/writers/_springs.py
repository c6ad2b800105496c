"""Springs, dampers and dry friction in MuJoCo: attributes of a joint, or of a tendon."""

from __future__ import annotations

from collections.abc import Mapping

from ...constraints.rows import joint_id
from ...constraints.spring import GravityCompensation, Spring
from ...errors import ConstraintError
from ...model import ClusterModel
from ._bodies import Bodies
from ._frames import place_of
from ._numbers import text
from ._ties import Ties

BENT = "4.0.0"
"""First MuJoCo whose springs and dampers may be polynomials."""


class Springs:
    """Writes what a robot does by itself.

    Args:
        model: The robot.
        bodies: Its bodies.
        ties: Takes the tendons.

    Attributes:
        of_joint: Attributes by the name of a joint.
        remarks: What is to be said about them.

    Raises:
        ConstraintError: MuJoCo has nothing that says one of them.
    """

    def __init__(self, model: ClusterModel, bodies: Bodies, ties: Ties) -> None:
        self.model, self.tree, self.bodies, self.ties = model, model.own_tree, bodies, ties
        self.of_joint: dict[str, dict[str, str]] = {}
        self.remarks: list[str] = []
        for c in model.constraints:
            if isinstance(c, GravityCompensation):
                raise ConstraintError(
                    f"to_mjcf: {c.label} holds {c.mass:g} kg of a body, and MuJoCo can hold a part of a whole body "
                    "only. Take it out of the model, and add gravcomp to the file's body."
                )
            if isinstance(c, Spring):
                self._add(c)
        if any(any(c.stiffness[1:]) or any(c.damping[1:]) for c in model.constraints if isinstance(c, Spring)):
            self.remarks.append(f"Springs and dampers that are polynomials need MuJoCo {BENT} or newer.")

    def _add(self, c: Spring) -> None:
        if isinstance(c.along, str):
            j = joint_id(self.tree, c.along, c.label)
            name = str(self.tree.names[j])
            slack = c.rest is not None and self.tree.nvs[j] == 1 and len(c.rest) > 1 and c.rest[0] != c.rest[-1]
            if self.tree.nvs[j] != 1:
                raise ConstraintError(
                    f"to_mjcf: {c.label} acts on joint {name!r} of several degrees of freedom, which is not written. "
                    "Put it on simple joints."
                )
            if name not in self.of_joint and not slack:
                given = self._numbers(c, "springref")
                self.of_joint[name] = given
                return
            terms: Mapping[str, float] = {name: 1.0}
        elif isinstance(c.along, tuple):
            places = [place_of(self.tree, p, c.label) for p in c.along]
            self.ties.spatial(c.name or c.label, places, self._numbers(c, "springlength"))
            return
        else:
            terms = {str(self.tree.names[joint_id(self.tree, n, c.label)]): x for n, x in c.along.items()}
        self.ties.fixed(c.name or c.label, list(terms.items()), more=self._numbers(c, "springlength"))

    def _numbers(self, c: Spring, rest: str) -> dict[str, str]:
        """Return the attributes of a spring; ``rest`` is that of its rest."""
        found: dict[str, str] = {}
        for key, value in (("stiffness", c.stiffness), ("damping", c.damping)):
            if any(value):
                found[key] = text(value if any(value[1:]) else value[:1])
        if c.friction:
            found["frictionloss"] = text(c.friction)
        if any(c.stiffness):
            at = tuple(c.rest or (0.0,))
            if rest == "springlength" and min(at) < 0.0:
                raise ConstraintError(
                    f"to_mjcf: {c.label} rests at {text(at)}, and the rest of a tendon of MuJoCo cannot be negative. "
                    "Turn the signs of its coefficients, or count from elsewhere."
                )
            found[rest] = text(at)
        return found
