"""The script that runs Pinocchio's unit tests with this package, on two files of tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSING = """
import os, unittest
import numpy as np
import pinocchio as pin
from pinocchio.utils import isapprox

class TestArm(unittest.TestCase):
    def test_changed_model(self):
        model = pin.buildSampleModelManipulator()
        data = model.createData()
        model.gravity = pin.Motion.Zero()
        q, v = pin.neutral(model), np.zeros(model.nv)
        self.assertTrue(isapprox(pin.rnea(model, data, q, v, v), v))

    def test_crash(self):
        os._exit(3)

    def test_placement(self):
        self.assertEqual(pin.SE3.Identity().translation[0], 0.0)
"""
FAILING = """
import unittest
import pinocchio as pin

class TestData(unittest.TestCase):
    def test_name(self):
        self.assertEqual(type(pin.buildSampleModelManipulator().createData()).__name__, "Data")
"""


@pytest.mark.ci
def test_the_table(tmp_path: Path) -> None:
    (tmp_path / "arm.py").write_text(PASSING)
    (tmp_path / "names.py").write_text(FAILING)
    (tmp_path / "other.py").write_text("import a_package_that_is_not_there\n")
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "benchmarks" / "pinocchios_tests.py"), str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    _, *rows, total = done.stdout.splitlines()
    table = {row.split()[0]: row.split(maxsplit=4)[1:] for row in rows}
    outcomes = {test: row[:3] for test, row in table.items()}
    assert outcomes == {
        "arm.TestArm.test_changed_model": ["pass", "pass", "3"],  # createData, neutral, rnea
        "arm.TestArm.test_crash": ["fail", "-", "0"],
        "arm.TestArm.test_placement": ["pass", "pass", "0"],
        "names.TestData.test_name": ["pass", "fail", "1"],
        "unittest.loader._FailedTest.other": ["fail", "-", "0"],
    }
    assert "line 7: AssertionError: 'ClusterData' != 'Data'" in table["names.TestData.test_name"][3]
    assert total.startswith("5 tests; 3 pass with pin; of these 2 pass with pc (1 with a ClusterModel, 1 without)")
