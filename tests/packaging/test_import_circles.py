"""No modules of the package import each other, imports for type checkers included."""

import pytest
from support import house

pytestmark = pytest.mark.ci  # parses all modules
IN_WORK = {
    "export.motor_space": {"export.motor_space.motion", "export.motor_space.motor_space"},
    "simulation": {
        "simulation._compiled", "simulation.ground.events", "simulation.ground.kernel", "simulation.ground.quick",
        "simulation.ground.recording", "simulation.ground.stepping",
    },
}  # fmt: skip
"""Circles that are known, by the folder that they are in."""


def test_no_modules_import_each_other() -> None:
    found = house.circles(house.imports(types=True))
    assert [circle for circle in found if not any(known >= set(circle) for known in IN_WORK.values())] == []
