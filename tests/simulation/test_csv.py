"""Results as CSV: names with units, and every digit comes back."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters._support import whole_files as columns
from pin_clusters.studies import study, sweeps


def read(file: Path) -> dict[str, np.ndarray]:
    with file.open(encoding="utf-8", newline="") as stream:
        names = next(csv.reader(stream))
    table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    assert len(set(names)) == len(names) == table.shape[1]
    return dict(zip(names, table.T, strict=True))


def swing(model: pc.ClusterModel, duration: float, dt: float) -> pc.SimulationResult:
    return pc.simulate(model, pc.neutral(model), np.zeros(model.nv), duration=duration, dt=dt)


def test_a_simulation(tmp_path: Path) -> None:
    result = swing(pc.load("four_bar"), duration=0.02, dt=1e-3)
    result.to_csv(tmp_path / "swing.csv")
    found = read(tmp_path / "swing.csv")
    assert list(found) == [
        "time [s]", "crank [rad]", "coupler [rad]", "rocker [rad]", "crank [rad/s]", "crank [rad/s^2]", "crank [N m]",
        "energy [J]", "residual",
    ]  # fmt: skip
    expected = [result.time, *result.q.T, *result.v.T, *result.a.T, *result.tau.T, result.energy, result.residual]
    for column, values in zip(found.values(), expected, strict=True):
        assert np.array_equal(column, values)


def test_joints_of_several_freedoms(tmp_path: Path) -> None:
    tree = pin.Model()
    j = 0
    for name, joint in (
        ("base", pin.JointModelFreeFlyer()), ("wheel, left", pin.JointModelRUBX()), ("slide", pin.JointModelPX()),
        ("ball", pin.JointModelSpherical()), ("plane", pin.JointModelPlanar()),
    ):  # fmt: skip
        j = tree.addJoint(j, joint, pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    result = swing(pc.ClusterModel(tree), duration=0.003, dt=1e-3)
    result.to_csv(tmp_path / "all.csv")
    found = read(tmp_path / "all.csv")
    assert list(found)[1 : 1 + tree.nq] == [
        "base.x [m]", "base.y [m]", "base.z [m]", "base.qx", "base.qy", "base.qz", "base.qw", "wheel, left.cos",
        "wheel, left.sin", "slide [m]", "ball.qx", "ball.qy", "ball.qz", "ball.qw", "plane.x [m]", "plane.y [m]",
        "plane.cos", "plane.sin",
    ]  # fmt: skip
    assert np.array_equal(found["slide [m/s]"], result.v[:, 7])
    assert np.array_equal(found["base.vx [N]"], result.tau[:, 0])


def test_names_survive_a_file_and_are_missing_in_old_ones(tmp_path: Path) -> None:
    result = swing(pc.load("four_bar"), duration=0.002, dt=1e-3)
    result.to_npz(tmp_path / "swing.npz")
    assert type(result).from_npz(tmp_path / "swing.npz").coordinates == result.coordinates
    without = type(result)(**{**vars(result), "coordinates": ()})
    without.to_csv(tmp_path / "old.csv")
    assert list(read(tmp_path / "old.csv"))[1:4] == ["q[0]", "q[1]", "q[2]"]


def test_a_file_that_cannot_be_written() -> None:
    result = swing(pc.load("four_bar"), duration=0.002, dt=1e-3)
    with pytest.raises(OSError, match=r"'/no/such/folder\.csv'"):
        result.to_csv("/no/such/folder.csv")


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, file = swing(pc.load("four_bar"), duration=0.002, dt=1e-3), tmp_path / "swing.csv"
    result.to_csv(file)
    file.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(file)
    before = file.read_text()
    with monkeypatch.context() as broken:
        broken.setattr(columns.np, "savetxt", lambda *_, **__: 1 / 0)
        for name in ("swing.csv", "link.csv"):
            with pytest.raises(ZeroDivisionError):
                result.to_csv(tmp_path / name)
    assert file.read_text() == before
    file.write_text("")
    result.to_csv(tmp_path / "link.csv")
    result.to_csv("/dev/null")  # nothing takes the place of a device
    assert file.read_text() == before
    assert file.stat().st_mode & 0o777 == 0o640
    assert not Path("/dev/null").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.csv", "swing.csv"]


def test_a_pipe_is_written_to_itself() -> None:
    code = """
import pin_clusters as pc
from pin_clusters._support.whole_files import write_csv
import numpy as np
write_csv("/dev/stdout", {"x": np.array([1.0, 2.0])})
"""
    done = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [float(x) for x in done.stdout.split()[1:]] == [1.0, 2.0]


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["npz", "png"])
def test_arrays_and_pictures_are_whole_or_as_they_were(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, file = swing(pc.load("four_bar"), duration=0.002, dt=1e-3), tmp_path / f"swing.{kind}"
    write = result.to_npz if kind == "npz" else result.plot
    write(file)
    before = file.read_bytes()
    with monkeypatch.context() as full:
        full.setattr(os, "replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write(file)
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [file.name]
    write(tmp_path / "other")  # the ending is added
    assert (tmp_path / f"other.{kind}").read_bytes()[:4] == before[:4]


def test_a_study(tmp_path: Path) -> None:
    result = study.run(pc.load("mit_humanoid_leg"), duration=0.01)
    result.to_csv(tmp_path / "study.csv")
    found = read(tmp_path / "study.csv")
    assert np.array_equal(found["knee, exact [N m]"], result.exact[:, result.joints.index("knee")])
    assert np.array_equal(found["ankle, block [N m]"], result.approximate["block"][:, result.joints.index("ankle")])


def test_a_sweep(tmp_path: Path) -> None:
    arrays = {
        "error": np.array([[1.0 / 3.0, 2.0], [3.0, 4.0]]),
        "ratio": np.array([6, 9]),
        "name": np.array(["a", "b"]),
    }
    result = sweeps.SweepResult("f", 3, 0, np.array([0, 2]), (), arrays, sweeps.result.Effort())
    result.to_csv(tmp_path / "sweep.csv")
    found = read(tmp_path / "sweep.csv")
    assert list(found) == ["case", "error[0]", "error[1]", "ratio"]
    assert np.array_equal(found["error[0]"], arrays["error"][:, 0])
    assert found["case"].tolist() == [0.0, 2.0]
