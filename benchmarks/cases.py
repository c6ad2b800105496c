"""What is measured, and what it should reach: data only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """A robot and its gates.

    Attributes:
        robot: Name for ``pc.load``; floating base where the robot has one.
        gates: Largest allowed time of ``pc.<name>`` over ``pin.<name>`` on the approximate robot.
        overhead: Largest allowed time with rotors over time without them, the same code; None: reported only.
        projection: Smallest allowed time of ``baselines.projection.aba`` over ``pc.aba``; None: reported only.
        batch: Smallest allowed time of ``pin.abaInParallel`` over ``pc.batch.aba`` per state on one thread, where the
            processor has 8 lanes; None: reported only.
    """

    robot: str
    gates: dict[str, float] = field(default_factory=dict)
    overhead: float | None = None
    projection: float | None = None
    batch: float | None = None


CASES = (
    Case("mini_cheetah", {"rnea": 0.75, "aba": 0.55, "crba": 0.90}, overhead=1.08, projection=8.0, batch=8.0),
    Case("mit_humanoid", {"rnea": 0.70, "aba": 0.55, "crba": 0.80}, overhead=1.08, projection=8.0, batch=8.0),
    Case("jvrc1", {"rnea": 0.70, "aba": 0.55, "crba": 0.80}, overhead=1.08, projection=8.0, batch=8.0),
    # rotors that are not axisymmetric stay bodies
    Case("jvrc1_as_published", {"aba": 1.0}),
    Case("teleop_arm", {"aba": 1.0}),
)

FULL = {"repeats": 61, "block": 4e-3, "states": 1024}
QUICK = {"repeats": 11, "block": 1e-3, "states": 256}
