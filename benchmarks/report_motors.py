"""The table of the catalogue of motors.

Usage: python benchmarks/report_motors.py  (writes docs/motors.md; --check changes nothing, and tells by its exit code)
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from report import fill
from report_loops import markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "motors.md"
COLUMNS = {
    "ratio": "ratio", "rotor_inertia": "inertia [kg m^2]", "rated_torque": "rated [N m]", "peak_torque": "peak [N m]",
    "no_load_speed": "no load [rad/s]", "voltage": "[V]", "torque_constant": "[N m/A]", "resistance": "[ohm]",
    "viscous": "viscous [N m s]", "coulomb": "dry [N m]", "efficiency": "efficiency", "back_efficiency": "backward",
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


def main() -> int:
    """Write the page."""
    before = PAGE.read_text(encoding="utf-8")
    after = fill(before, "motors", table())
    if "--check" in sys.argv[1:]:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
