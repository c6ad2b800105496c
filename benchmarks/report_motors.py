"""Write the catalogue of motors and the cost of their losses to docs/measured/motors.md.

Usage: python benchmarks/report_motors.py  (--check writes nothing; exit code 1 if the page is out of date)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml
from report import fill
from report_loops import markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "measured" / "motors.md"
COSTS = ROOT / "benchmarks" / "results" / "losses.json"
COLUMNS = {
    "ratio": "ratio", "rotor_inertia": "inertia [kg m^2]", "rated_torque": "rated [N m]", "peak_torque": "peak [N m]",
    "no_load_speed": "no-load speed [rad/s]", "voltage": "[V]", "torque_constant": "[N m/A]", "resistance": "[ohm]",
    "viscous": "viscous [N m s]", "coulomb": "Coulomb [N m]", "efficiency": "efficiency",
    "back_efficiency": "back efficiency",
}  # fmt: skip


def table() -> str:
    """Return a row per motor."""
    motors = yaml.safe_load((ROOT / "robot_models" / "motors.yaml").read_text(encoding="utf-8"))
    known = [key for key in COLUMNS if any(key in entry for entry in motors.values())]
    rows = [
        [f"`{name}`", entry["about"].replace("|", "/"), *(f"{entry[k]:.4g}" if k in entry else "" for k in known)]
        for name, entry in motors.items()
    ]
    return markdown(["name", "motor", *(COLUMNS[k] for k in known)], rows)


def costs() -> str:
    """Return a row per robot and way of stepping: us of a step without losses, and quotients with them."""
    rows = [
        [f"`{name}`", how, f"{x['bare']:.1f}", *(f"{x[key] / x['bare']:.2f}" for key in ("friction", "gears", "both"))]
        for name, found in json.loads(COSTS.read_text(encoding="utf-8"))["robots"].items()
        for how, x in found.items()
    ]
    return markdown(["robot", "torques", "lossless [us]", "friction", "gear losses", "both"], rows)


def main() -> int:
    """Write the page."""
    before = PAGE.read_text(encoding="utf-8")
    after = fill(fill(before, "motors", table()), "losses", costs())
    if "--check" in sys.argv[1:]:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
