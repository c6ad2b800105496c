"""Recorded motions: files, splines, floating bases, forces, and everything that can be wrong with them."""

from __future__ import annotations

import importlib
import io
import os
import struct
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.commands import refused, run
from support.messages import raises, warns
from support.studies import check_derivatives, load, pendulum

import pin_clusters as pc
from pin_clusters.studies import study
from pin_clusters.studies.study import trajectories
from pin_clusters.studies.study.trajectories import Recorded, Sine, TrajectoryError

LEG = ("hip_rz", "hip_rx", "hip_ry", "knee", "ankle")
T = np.arange(201) * 0.01


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def leg() -> pc.ClusterModel:
    return load("mit_humanoid_leg")


@pytest.fixture(scope="module")
def cheetah() -> pc.ClusterModel:
    return load("mini_cheetah", floating=True)


def sines(names: tuple[str, ...] = LEG) -> dict[str, np.ndarray]:
    w = 2.0 * np.pi * 0.75
    return {"time": T} | {name: 0.5 * np.sin(w * T) for name in names}


def csv(columns: dict[str, np.ndarray], separator: str = ",") -> str:
    rows = [separator.join(columns)]
    rows += [separator.join(f"{x!r}" for x in map(float, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(rows) + "\n"


def write(text: str, name: str = "motion.csv") -> Path:
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


# --- what a recording gives -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [None, 1e-3])
def test_a_recorded_sine_is_the_sine(leg: pc.ClusterModel, dt: float | None) -> None:
    """At 100 Hz, 0.75 Hz: splines of degree 5 are off by about (w dt)^4 in the acceleration, more at the ends."""
    time, q, v, a = Recorded.from_columns(sines(), dt=dt).states(leg)
    _, q_, v_, a_ = Sine(0.5, 0.75, 2.5, dt or 0.01, in_phase=True).states(leg)
    n, inner = len(time), slice(len(time) // 20, -len(time) // 20)
    assert n == (201 if dt is None else 2000)
    assert np.abs(q - q_[:n]).max() < 1e-7
    assert np.abs((v - v_[:n])[inner]).max() < 1e-7
    assert np.abs((a - a_[:n])[inner]).max() < 1e-5
    assert np.abs(a - a_[:n]).max() < 1e-2


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_of_both_kinds_are_the_same(leg: pc.ClusterModel, separator: str) -> None:
    columns = sines()
    expected = Recorded.from_columns(columns).states(leg)
    text = "# made by hand\n\n" + csv(columns, separator).replace("\n", "\r\n")
    Path("motion.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    np.savez("motion.npz", **columns)
    for name in ("motion.csv", "motion.npz"):
        found = Recorded.from_file(name)
        assert found.label == f"{name} (2 s)"
        for x, y in zip(found.states(leg), expected, strict=True):
            assert np.array_equal(x, y)


def test_time_may_begin_anywhere_and_columns_come_in_any_order(leg: pc.ClusterModel) -> None:
    columns = sines()
    turned = {name: columns[name] for name in reversed(columns)} | {"time": T + 1e4}
    found, expected = (Recorded.from_columns(c).states(leg) for c in (turned, columns))
    assert found[0][0] == 0.0
    assert np.abs(found[3] - expected[3]).max() < 1e-4  # times of 1e4 s have 12 digits behind them less


def test_recorded_velocities_and_accelerations_are_taken(leg: pc.ClusterModel) -> None:
    w = 2.0 * np.pi * 0.75
    columns = sines() | {f"{n}.v": 0.5 * w * np.cos(w * T) for n in LEG}
    columns |= {"knee.a": -0.5 * w * w * np.sin(w * T) + 0.125}
    _, _, v, a = Recorded.from_columns(columns).states(leg)
    knee, hip = leg.joint_idx_v("knee"), leg.joint_idx_v("hip_ry")
    assert np.abs(v[:, knee] - columns["knee.v"]).max() < 1e-12
    assert np.abs(a[:, knee] - columns["knee.a"]).max() < 1e-12
    assert np.abs(a[:, hip] + w * w * columns["hip_ry"]).max() < 1e-2


def test_a_cutoff_takes_noise_away(leg: pc.ClusterModel) -> None:
    rng = np.random.default_rng(0)
    clean = sines()
    noisy = clean | {n: clean[n] + 1e-4 * rng.normal(size=len(T)) for n in LEG}
    w = 2.0 * np.pi * 0.75
    expected = -w * w * clean["knee"]
    inner = slice(20, -20)
    error = {}
    for cutoff in (None, 5.0):
        _, _, _, a = Recorded.from_columns(noisy, cutoff=cutoff).states(leg)
        error[cutoff] = np.sqrt(np.mean((a[:, leg.joint_idx_v("knee")] - expected)[inner] ** 2))
    assert error[None] > 1.0
    assert error[5.0] < 0.1
    with raises(TrajectoryError, "cutoff 60 50"):
        Recorded.from_columns(noisy, cutoff=60.0).states(leg)


def test_degrees(leg: pc.ClusterModel) -> None:
    columns = sines()
    in_degrees = {n: x if n == "time" else np.degrees(x) for n, x in columns.items()}
    expected = Recorded.from_columns(columns).states(leg)
    for x, y in zip(Recorded.from_columns(in_degrees, degrees=True).states(leg), expected, strict=True):
        assert np.abs(x - y).max() < 1e-8 * max(1.0, np.abs(y).max())
    with warns(pc.PinClustersWarning, "degrees=True"):
        Recorded.from_columns(in_degrees).states(leg)


def test_continuous_joints_are_unwrapped() -> None:
    model = pendulum(pin.JointModelRUBY())
    angle = 3.0 * T
    wrapped = (angle + np.pi) % (2.0 * np.pi) - np.pi
    _, q, v, _ = Recorded.from_columns({"time": T, "joint": wrapped}).states(model)
    assert np.allclose(v, 3.0, rtol=0.0, atol=1e-9)
    assert np.allclose(q, np.column_stack([np.cos(angle), np.sin(angle)]), rtol=0.0, atol=1e-12)


def test_a_floating_base_moves_as_recorded(cheetah: pc.ClusterModel) -> None:
    """Against Pinocchio: velocities by difference on the manifold, accelerations by differences of those."""
    motion = trajectories.motion("mini_cheetah_trot", dt=1e-3)
    check_derivatives(cheetah, motion, slice(100, -100, 31))
    turning = pin.Quaternion(np.array([0.1, -0.2, 0.3, 0.9])).normalized()
    steps = [pin.exp3(np.array([0.3 * np.sin(3.0 * t), 0.4 * t, 0.2 * t * t])) @ turning.matrix() for t in T]
    base = np.array([
        [*(0.1 * np.array([np.sin(2.0 * t), np.cos(3.0 * t), t])), *pin.Quaternion(R).coeffs()]
        for t, R in zip(T, steps, strict=True)
    ])  # fmt: skip
    base[50:, 3:] *= -1.0  # the same rotation
    joints = {n: x for n, x in sines(trajectories.moved_joints(cheetah)).items() if n != "time"}
    check_derivatives(cheetah, Recorded(T, joints, base=base, dt=1e-3), slice(100, -100, 31))


def test_forces_are_taken_off_the_joints_not_off_the_wrench(cheetah: pc.ClusterModel) -> None:
    rng = np.random.default_rng(1)
    with_forces = trajectories.motion("mini_cheetah_trot")
    assert len(with_forces.forces) == 4
    without = Recorded(with_forces.time, with_forces.positions, base=with_forces.base)
    held, loose = study.run(cheetah, with_forces), study.run(cheetah, without)
    assert held.loads
    assert not loose.loads
    assert np.array_equal(held.exact[:, :6], loose.exact[:, :6])
    data = cheetah.createData()
    time, q, v, a = with_forces.states(cheetah)
    for i in rng.integers(0, len(time), 5):
        # as an external force in the frame of the joint
        f = [pin.Force.Zero() for _ in range(cheetah.tree.njoints)]
        for name, rows in with_forces.forces.items():
            frame = cheetah.tree.frames[cheetah.tree.getFrameId(name)]
            pc.framesForwardKinematics(cheetah, data, q[i])
            turned = pin.SE3(data.tree.oMf[cheetah.tree.getFrameId(name)].rotation.T, np.zeros(3))
            f[frame.parentJoint] += frame.placement.act(turned.act(pin.Force(rows[i])))
        expected = np.array(pc.rnea(cheetah, data, q[i], v[i], a[i], f))
        assert held.exact[i, 6:] == pytest.approx(expected[6:], abs=1e-9)
        assert np.abs(expected[:6]).max() < 2.0  # the feet carry nearly all of 90 N
    for level in study.LEVELS:
        assert np.allclose(held.error(level), loose.error(level), rtol=0.0, atol=1e-10)


def test_forces_on_a_robot_with_a_fixed_base(leg: pc.ClusterModel) -> None:
    """A push at the foot, as from a load cell: J' f, by the frame's Jacobian from Pinocchio alone."""
    push = {"ankle_link.fx": 3.0 + 0.0 * T, "ankle_link.fy": 0.0 * T, "ankle_link.fz": 20.0 * np.sin(T)}
    pushed, free = (study.run(leg, Recorded.from_columns(sines() | more)) for more in (push, {}))
    assert pushed.loads
    _, q, _, _ = Recorded.from_columns(sines()).states(leg)
    data, frame = leg.tree.createData(), leg.tree.getFrameId("ankle_link")
    G = pc.coupling_jacobian(leg, leg.createData(), q[0])
    for i in (0, 50, 170):
        J = pin.computeFrameJacobian(leg.tree, data, q[i], frame, pin.LOCAL_WORLD_ALIGNED)[:3]
        expected = (J @ G).T @ [3.0, 0.0, 20.0 * np.sin(T[i])]
        assert free.exact[i] - pushed.exact[i] == pytest.approx(expected, abs=1e-12)


def test_dependents_are_compared(leg: pc.ClusterModel) -> None:
    columns = sines()
    rotor = next(n for n in list(leg.tree.names)[1:] if n not in LEG and "hip_ry" in n)
    ratio = next(r.coefficients[0] for r in leg.coupling_rows if leg.tree.names[r.dependent] == rotor)
    expected = Recorded.from_columns(columns).states(leg)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Recorded.from_columns(columns | {rotor: ratio * columns["hip_ry"]}).states(leg)
    with warns(pc.PinClustersWarning, f"'{rotor}'"):
        other = Recorded.from_columns(columns | {rotor: -ratio * columns["hip_ry"]}).states(leg)
    for x, y, z in zip(expected, found, other, strict=True):
        assert np.array_equal(x, y)
        assert np.array_equal(x, z)


def test_joints_that_were_not_recorded_can_be_held(leg: pc.ClusterModel) -> None:
    columns = sines()
    del columns["knee"]
    with raises(TrajectoryError, "'knee' 'mit_humanoid_leg' missing='hold'"):
        Recorded.from_columns(columns).states(leg)
    _, q, v, _ = Recorded.from_columns(columns, missing="hold").states(leg)
    assert np.abs(v[:, leg.joint_idx_v("knee")]).max() == 0.0
    assert max(np.abs(pc.residual(leg, row)).max() for row in q) < 1e-13


@pytest.mark.parametrize("name", ["four_bar", "delta", "tello"])
def test_closed_loops_follow(name: str) -> None:
    model = load(name)
    centre = trajectories.centre(model)
    joints = trajectories.moved_joints(model)
    columns = {"time": T}
    columns |= {n: c + 0.1 * np.sin(4.0 * T + k) for k, (n, c) in enumerate(zip(joints, centre, strict=True))}
    check_derivatives(model, Recorded.from_columns(columns, dt=2e-3), slice(100, -100, 43))
    result = study.run(model, Recorded.from_columns(columns))
    assert result.loops
    assert np.isfinite(result.exact).all()


# --- what can be wrong ------------------------------------------------------------------------------------------------

HEAD = "time," + ",".join(LEG)
ROW = "0,0,0,0,0"
ROWS = [f"{0.01 * i:.2f},{ROW}" for i in range(8)]


def changed(i: int, row: str) -> str:
    return "\n".join([HEAD, *(row if k == i else r for k, r in enumerate(ROWS))])


BAD = {
    "empty": ("", "motion.csv"),
    "comments only": ("# nothing\n", "motion.csv"),
    "head only": (HEAD, "0 6"),
    "few samples": ("\n".join([HEAD, *ROWS[:5]]), "5"),
    "no head": ("\n".join(ROWS), "motion.csv"),
    "no time": (changed(0, ROWS[0]).replace("time", "seconds"), "'time'"),
    "twice": (changed(0, ROWS[0]).replace("ankle", "knee"), "'knee'"),
    "text": (changed(2, "0.02,0,0,zero,0,0"), "4 'hip_ry' 'zero'"),
    "NaN": (changed(3, "0.03,0,0,0,nan,0"), "5 'knee' nan"),
    "a short row": (changed(4, "0.04,0,0"), "6 3"),
    "time back": (changed(5, f"0.01,{ROW}"), "time 5 0.01 4 0.04"),
    "time again": (changed(5, f"0.04,{ROW}"), "motion.csv 5 0.04"),
    "unknown joint": (changed(0, ROWS[0]).replace("ankle", "anke"), "'anke' 'ankle'"),
    "missing joint": (changed(0, ROWS[0]).replace(",ankle", "").replace(",0\n", "\n")[:-2], "'ankle'"),
    "half a base": (changed(0, ROWS[0]).replace("ankle", "qx"), "'qx'"),
    "half a force": (changed(0, ROWS[0]).replace("ankle", "foot.fx"), "'foot' 'foot.fy'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_one_clear_line(case: str) -> None:
    text, message = BAD[case]
    write(text)
    with raises(TrajectoryError, message):
        Recorded.from_file("motion.csv").states(load("mit_humanoid_leg"))
    line = refused("study", "mit_humanoid_leg", "--trajectory", "motion.csv", "--output", "new")
    assert "motion.csv" in line
    assert not Path("new").exists()


def test_files_that_are_none() -> None:
    Path("binary.csv").write_bytes(bytes(range(128, 256)))
    Path("binary.npz").write_bytes(bytes(range(256)))
    Path("folder.csv").mkdir()
    Path("motion.txt").touch()
    np.savez("shape.npz", time=T, knee=np.zeros((201, 2)))
    np.savez("length.npz", time=T, knee=np.zeros(200))
    np.savez("nan.npz", time=T, knee=np.full(201, np.nan))
    np.savez("words.npz", time=T, knee=np.array(["x"] * 201))
    for name, message in {
        "binary.csv": "0", "binary.npz": "binary.npz", "folder.csv": "folder.csv",
        "motion.txt": "csv", "shape.npz": "'knee' (201, 2)",
        "length.npz": "'knee' 200 201", "nan.npz": "0 'knee' nan",
        "words.npz": "'knee'", "nowhere.csv": "nowhere.csv",
    }.items():  # fmt: skip
        with raises(TrajectoryError, message):
            Recorded.from_file(name)


def npy(count: int, numbers: bytes = b"", kind: str = "<f8") -> bytes:
    """Return an array as NumPy writes it, with a header that may claim anything."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers


def zipped(data: bytes, how: int = zipfile.ZIP_STORED, name: str = "time.npy") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def patched(data: bytes, local: int, central: int, value: int) -> bytes:
    """Return an archive with a byte changed in the header of its first member, and in that of its directory."""
    found = bytearray(data)
    found[local] |= value
    found[data.find(b"PK\x01\x02") + central] |= value
    return bytes(found)


PLAIN = zipped(npy(201, T.tobytes()))
DEFLATED = zipped(npy(201, T.tobytes()), zipfile.ZIP_DEFLATED)
TWICE = io.BytesIO()
with zipfile.ZipFile(TWICE, "w") as both, warnings.catch_warnings(action="ignore"):
    for _ in range(2):
        both.writestr("time.npy", npy(201, T.tobytes()))
STAMPS = "stamp,field.position0,field.name0\n" + "1600000000000000000,1,knee\n{},1,knee\n" * 40
HOSTILE: dict[str, tuple[bytes | str, str]] = {
    "latin.csv": (b"time,knee\n0,1\n# \xe9\n", "latin.csv 16 3"),
    "field.csv": ("time,knee\n0," + "9" * 200_000, "field.csv 2 131072"),
    "quote.csv": ('time,knee\n0,"1\n' + "0,1\n" * 70_000, "quote.csv line 131072"),
    "under.csv": ("time,knee\n" + "0,1\n" * 9 + "1_0,1\n", "under.csv 11 'time' '1_0'"),
    "thai.csv": ("time,knee\n" + "0,1\n" * 9 + "0,\u0e51\n", "thai.csv 11 'knee' '\u0e51'"),
    "superscript.csv": ("time,knee\n" + "0,1\n" * 9 + "0,1\u00b2\n", "superscript.csv 11 'knee' '1\u00b2'"),
    "digits.csv": ("time,knee\n" + "0," + "9" * 5000 + "\n", "digits.csv 2 'knee'"),
    "wider.csv": ("time,knee\n" + "0,1\n" * 9 + "0,1,5\n", "wider.csv 11 3 2"),
    "sep.csv": ('sep="\ntime,knee\n0,1', "sep.csv 2 2 1"),
    "columns.csv": (",".join(["time"] + ["c"] * 30_000), "columns.csv 'c'"),
    "array.npz": (npy(201, T.tobytes()), "array.npz"),
    "petabytes.npz": (zipped(npy(10**17)), "petabytes.npz 'time' 0 100000000000000000"),
    "short.npz": (zipped(npy(201, T.tobytes()[:-8])), "short.npz 'time' 200 201"),
    "bomb.npz": (patched(PLAIN, 25, 27, 0x40), "bomb.npz 1074 1000"),
    "deflate.npz": (DEFLATED[:60] + bytes(255 - c for c in DEFLATED[60:80]) + DEFLATED[80:], "deflate.npz"),
    "method.npz": (patched(PLAIN, 8, 10, 99), "method.npz"),
    "locked.npz": (patched(PLAIN, 6, 8, 1), "locked.npz"),
    "twice.npz": (TWICE.getvalue(), "twice.npz 'time'"),
    "pickle.npz": (zipped(npy(1, b"cos\nsystem\n(S'touch owned'\ntR.", "|O")), "pickle.npz 'time' object"),
    "text.npz": (zipped(b"time", name="time"), "text.npz"),
}


@pytest.mark.parametrize("by", [Recorded.from_file, lambda path: pc.identify(load("mit_humanoid_leg"), path)])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, by: Callable[[str], object]) -> None:
    """All of them as recordings and as logs."""
    data, message = HOSTILE[name]
    Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())
    with raises(TrajectoryError, message):
        by(name)
    assert not Path("owned").exists()


@pytest.mark.parametrize("by", [Recorded.from_file, lambda path: pc.identify(load("mit_humanoid_leg"), path)])
@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_devices_pipes_and_size(by: Callable[[str], object]) -> None:
    """A pipe without a writer, or a device without an end, would never be read to its end."""
    for name in ("pipe.csv", "pipe.npz"):
        os.mkfifo(name)
    for name in ("zero.csv", "zero.npz"):
        Path(name).symlink_to("/dev/zero")
    for name in ("sparse.csv", "sparse.npz"):
        with open(name, "wb") as file:
            file.truncate(20 * 10**9)
    for name, message in {
        "pipe.csv": "'pipe.csv'", "pipe.npz": "'pipe.npz'", "zero.csv": "'zero.csv'", "zero.npz": "'zero.npz'",
        "sparse.csv": "'sparse.csv' 20000 1000", "sparse.npz": "'sparse.npz' 20000 1000", "\0.csv": "'\\x00.csv'",
        f"{'a' * 300}.csv": "",
    }.items():  # fmt: skip
        with raises(TrajectoryError, message):
            by(name)


@pytest.mark.parametrize("stamp", ["x", "1600000000000000000.5", "\u00b2", "9" * 5000, "1e18"])
def test_stamps_of_bags_that_are_none(stamp: str) -> None:
    write(STAMPS.format(*[stamp] * 40), "bag.csv")
    with raises(TrajectoryError, "bag.csv 3 'stamp'"):
        pc.identify(load("mit_humanoid_leg"), "bag.csv")


@pytest.mark.ci
def test_many_columns_take_no_square_of_them() -> None:
    """To compare 60,000 names in pairs takes half a minute of the processor, or more."""
    write(csv({"time": np.arange(7.0)} | {f"c{i}": np.zeros(7) for i in range(60_000)}))
    start = time.process_time()
    assert len(Recorded.from_file("motion.csv").positions) == 60_000
    assert time.process_time() - start < 10.0


def test_all_kinds_of_numbers_of_an_archive() -> None:
    kinds = ("<f8", ">f8", "<f4", ">i2", "<u4", "|i1", "<f2")
    columns = {kind[1:] + kind[0]: np.arange(7).astype(kind) for kind in kinds}
    for save in (np.savez, np.savez_compressed):
        save("kinds.npz", time=np.arange(7), **columns)
        found = trajectories.files.read("kinds.npz")
        assert list(found) == ["time", *columns]
        for values in found.values():
            assert values.dtype == float
            np.testing.assert_array_equal(values, np.arange(7.0))


def test_bad_numbers_of_a_recording(cheetah: pc.ClusterModel) -> None:
    zero = {"joint": np.zeros(201)}
    base = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (201, 1))
    for options, message in (
        ({"dt": 0.0}, "dt 0"),
        ({"dt": 5.0}, "dt 5 2"),
        ({"cutoff": -1.0}, "cutoff"),
        ({"missing": "guess"}, "missing 'error' 'hold'"),
        ({"base": base[:, :6]}, "base 201 qx"),
        ({"base": 2.0 * base}, "0 qx 2"),
        ({"velocities": {"joint": np.zeros(3)}}, "'joint' 201"),
        ({"forces": {"foot": np.zeros((201, 3))}}, "'foot' 201 6"),
    ):
        with raises(TrajectoryError, message):
            Recorded(T, zero, **options)  # type: ignore[arg-type]
    with raises(TrajectoryError, "500000 400000 dt"):
        Recorded(np.arange(500_000) * 1e-3, {})
    with raises(TrajectoryError, "'root_joint'"):
        Recorded(T, {"root_joint": 0.0 * T}).states(cheetah)
    trot = trajectories.motion("mini_cheetah_trot")
    other = Recorded(trot.time, trot.positions, base=trot.base, forces={"FL_fot": np.zeros((len(trot.time), 6))})
    with raises(TrajectoryError, "'FL_fot' 'mini_cheetah'"):
        study.run(cheetah, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"time": 1e3 * T}, "10"),
        (lambda c: c | {"knee.v": np.degrees(np.gradient(c["knee"], T))}, "'knee.v'"),
        (lambda c: c | {"knee.a": 0.02 * np.degrees(c["knee"])}, "'knee.a'"),
        (lambda c: c | {f"{n}.v": 60.0 * c[n] for n in ("hip_rx", "knee")}, "'hip_rx.v' 1"),
    ],
)
def test_suspicious_recordings_are_taken_with_a_warning(leg: pc.ClusterModel, change: object, message: str) -> None:
    with warns(pc.PinClustersWarning, message):
        _, q, _, _ = Recorded.from_columns(change(sines())).states(leg)  # type: ignore[operator]
    assert np.isfinite(q).all()


def test_text_in_the_place_of_numbers(leg: pc.ClusterModel) -> None:
    with raises(TrajectoryError, "times"):
        Recorded.from_columns(sines() | {"time": "abc"})  # type: ignore[dict-item]
    with raises(TrajectoryError, "'knee'"):
        Recorded.from_columns(sines() | {"knee": ["a"] * len(T)})  # type: ignore[dict-item]
    with raises(TrajectoryError, "times"):
        trajectories.MinimumJerk(["neutral", "neutral"], times=["a", "b"])  # type: ignore[list-item]


# --- spreadsheets ---------------------------------------------------------------------------------------------------


def spreadsheet(columns: dict[str, np.ndarray], separator: str = ";", mark: str = ",") -> str:
    """Return a table as a spreadsheet writes it where the decimal mark is a comma, with empty rows and columns."""
    rows = [separator.join(f"{x:.9f}".replace(".", mark) for x in row) for row in np.array(list(columns.values())).T]
    empty = separator * (len(columns) + 1)
    return "\r\n".join([separator.join(columns), *rows]).replace("\r\n", separator * 2 + "\r\n") + f"\r\n{empty}\r\n"


@pytest.mark.parametrize("before", ["", "sep=;\r\n"])
def test_a_table_of_a_spreadsheet_is_the_same_motion(leg: pc.ClusterModel, tmp_path: Path, before: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(before + spreadsheet(sines()), encoding="utf-8-sig", newline="")
    plain = tmp_path / "plain.csv"
    plain.write_text(spreadsheet(sines(), ",", ".").replace(",,", ""))
    expected = Recorded.from_columns(sines()).states(leg)
    for file in (path, plain):
        for found, wanted in zip(Recorded.from_file(file).states(leg), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=2e-3)  # nine decimals, differentiated twice


def test_names_in_quotes_after_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    columns = sines()
    rows = [", ".join(f"{x:.6f}" for x in row) for row in np.array(list(columns.values())).T]
    path.write_text("\n".join([", ".join(f'"{name}"' for name in columns), *rows]))
    assert set(Recorded.from_file(path).positions) == set(columns) - {"time"}


def test_another_name_of_the_time_is_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(spreadsheet(sines()).replace("time", "Time [s]", 1))
    with raises(TrajectoryError, "'time' 'Time [s]'"):
        Recorded.from_file(path)


def test_the_cutoff_is_for_the_orientation_of_the_base_too(cheetah: pc.ClusterModel) -> None:
    trot = trajectories.motion("mini_cheetah_trot")
    assert trot.base is not None
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(len(trot.time), 4))
    base = trot.base.copy()
    base[:, 3:] += noise
    base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1)[:, None]
    base[::2, 3:] *= -1.0  # the same rotations
    columns = slice(3, 6)
    rough, smooth = (
        Recorded(trot.time, trot.positions, base=base, cutoff=cutoff).states(cheetah)[3][:, columns]
        for cutoff in (None, 5.0)
    )
    assert np.sqrt(np.mean(smooth**2)) < 0.1 * np.sqrt(np.mean(rough**2))


# --- those that ship --------------------------------------------------------------------------------------------------


def test_motions_that_ship() -> None:
    assert set(trajectories.motions()) == {
        "mini_cheetah_jump", "mini_cheetah_trot", "mit_humanoid_jump", "mit_humanoid_walk",
    }  # fmt: skip
    with raises(pc.UnknownNameError, "'mini_cheetah_trot'"):
        trajectories.motion("mini_cheetah_tort")


@pytest.mark.parametrize("name", trajectories.motions())
def test_shipped_motions_are_plausible(name: str) -> None:
    motion = trajectories.motion(name, dt=2e-3)
    model = load(trajectories.robot_of(name), floating=True)
    time, q, v, a = motion.states(model)
    tree, data = model.tree, model.createData()
    for joint in trajectories.moved_joints(model):
        j = tree.joints[tree.getJointId(joint)]
        assert tree.lowerPositionLimit[j.idx_q] < q[:, j.idx_q].min()
        assert q[:, j.idx_q].max() < tree.upperPositionLimit[j.idx_q]
        assert np.abs(v[:, model.joint_idx_v(joint)]).max() < tree.velocityLimit[j.idx_v]
    # smooth to the second derivative: between samples of 2 ms accelerations change by less than a sixth of the largest
    assert np.abs(np.diff(a, axis=0)).max() < np.abs(a).max() / 6.0
    force = sum(np.asarray(f) for f in motion.forces.values())
    flight = np.array([not force[(motion.time > t - 0.02) & (motion.time < t + 0.02)].any() for t in time])
    assert (flight.sum() * 2e-3 > 0.2) == name.endswith("jump")
    # stance feet stay: a foot that carries more than 5 N moves slower than 2 cm/s
    for frame, f in motion.forces.items():
        at = tree.getFrameId(frame)
        lever = np.array([0.0, 0.0, -0.195 if "cheetah" in name else -0.04])
        for i in np.flatnonzero(np.interp(time, motion.time, f[:, 2]) > 5.0)[::40]:
            pc.forwardKinematics(model, data, q[i], v[i])
            foot = pc.getFrameVelocity(model, data, at, pin.LOCAL)
            assert np.linalg.norm(foot.linear + np.cross(foot.angular, lever)) < 0.02
    # in flight nothing pushes the exact robot; what the ground gives elsewhere is what the motion needs
    weight = 9.81 * pin.computeTotalMass(tree)
    loads = motion.loads(model, time, q)
    for i in range(0, len(time), 23):
        wrench = np.array(pc.rnea(model, data, q[i], v[i], a[i]))[:6]
        assert np.abs(wrench - loads[i, :6]).max() < 0.03 * weight
        if flight[i]:
            assert np.abs(wrench).max() < 5e-3 * weight


@pytest.mark.ci
def test_the_script_makes_them_again() -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        script = importlib.import_module("make_motions")
    finally:
        sys.path.remove(str(folder))
    assert set(script.MOTIONS) == set(trajectories.motions())
    for name in ("mini_cheetah_jump",):  # a second each; make_motions.py --check compares all
        shipped = trajectories.files.read(script.place(name))
        made = script.columns(script.MOTIONS[name]())
        assert list(made) == list(shipped)
        # other processors and libraries round differently; forces hang on second derivatives
        for column, values in made.items():
            assert np.abs(values - shipped[column]).max() < (0.05 if ".f" in column or ".m" in column else 2e-7)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.ci
def test_the_command_knows_motions_and_files() -> None:
    result = run("study", "mini_cheetah", "--trajectory", "mini_cheetah_jump")
    assert result.exit_code == 0, result.stderr
    assert "with a floating base, along mini_cheetah_jump (1.48 s) (149 samples)" in result.stdout
    assert "base moment y" in result.stdout
    assert "Recorded ground forces act" in result.stdout
    assert Path("study_mini_cheetah/study.png").stat().st_size > 10_000
    write(csv(sines()), "gait.csv")
    result = run("study", "mit_humanoid_leg", "--trajectory", "gait.csv", "--cutoff", "20")
    assert result.exit_code == 0, result.stderr
    assert "along gait.csv (2 s) (201 samples)" in result.stdout
    write(csv({k: x for k, x in sines().items() if k != "knee"}), "gait.csv")
    assert "no column for 'knee'" in refused("study", "mit_humanoid_leg", "--trajectory", "gait.csv")


def test_options_of_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pin_clusters.studies.study.plots.save", lambda *_: None)
    write(csv({k: x for k, x in sines().items() if k != "knee"}), "gait.csv")
    result = run("study", "mit_humanoid_leg", "--trajectory", "gait.csv", "--hold-missing", "--dt", "0.02")
    assert "(100 samples)" in result.stdout
    result = run("study", "mini_cheetah", "--trajectory", "mini_cheetah_jump", "--base", "fixed")
    assert "with a fixed base" in result.stdout
    assert "base moment" not in result.stdout
    assert "The base is fixed: its recorded motion and recorded ground forces are ignored" in result.stdout
    result = run("study", "mit_humanoid_leg", "--base", "floating", "--duration", "0.1", "--dt", "0.01")
    assert "No ground forces are recorded" in result.stdout


def test_the_command_makes_other_motions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pin_clusters.studies.study.plots.save", lambda *_: None)
    poses = ("--pose", "neutral", "--pose", "knee=1.2,hip_ry=-0.6", "--pose", "neutral")
    for arguments, words in (
        (
            ("chirp", "--frequency", "2"),
            "0.2 sin(2 pi f t), f from 0.25 to 2 Hz, joints that share rotors or loops out of phase for 0.5 s",
        ),
        (("minimum-jerk",), "a minimum-jerk swing to +0.5, -0.5 and back for 0.5 s"),
        (("minimum-jerk", *poses), "along minimum jerk through 3 poses in 0.5 s"),
    ):
        result = run("study", "mit_humanoid_leg", "--duration", "0.5", "--dt", "0.005", "--trajectory", *arguments)
        assert result.exit_code == 0, result.stderr
        assert words in result.stdout
    assert "Did you mean 'knee'" in refused(
        "study", "mit_humanoid_leg", "--trajectory", "minimum-jerk", "--pose", "neutral", "--pose", "kne=1"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--trajectory", "mini_cheetah_trot", "--amplitude", "1"), "--amplitude does not apply to"),
        (("--pose", "neutral"), "--pose does not apply to --trajectory sine"),
        (("--trajectory", "minimum-jerk", "--pose", "neutral", "--pose", "knee=x"), "'knee=x' must be JOINT=NUMBER"),
        (
            ("--experiment", "torque-sinusoids", "--dt", "0.1"),
            "--experiment defines its own motion. Pass only ROBOT, --output and --drop-rotors.",
        ),
    ],
)
def test_options_that_do_not_fit(arguments: tuple[str, ...], message: str) -> None:
    result = run("study", "mit_humanoid_leg", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_unknown_trajectories_and_bases() -> None:
    assert "Did you mean 'mini_cheetah_trot'" in refused("study", "mini_cheetah", "--trajectory", "mini_cheetah_tro")
    assert "minimum-jerk" in refused("study", "mini_cheetah", "--trajectory", "xyzzy")
    assert "there is no file gone.csv" in refused("study", "mini_cheetah", "--trajectory", "gone.csv")
    assert "has no joint" in refused("study", "mit_humanoid_leg", "--trajectory", "mini_cheetah_trot")


# --- recorded at other joints ----------------------------------------------------------------------------------------


def _recorded_at(model: pc.ClusterModel, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], tuple]:
    """A motion of all independent joints, and of the dependent ones as pin has them in q."""
    time = np.linspace(0.0, 1.0, 61)
    columns = {
        name: model.q_reference[joint.idx_q] + 0.08 * np.sin(2.0 * np.pi * time + rng.uniform(0.0, 6.0))
        for name in model.independent_joints
        for joint in [model.tree.joints[model.getJointId(name)]]
    }
    motion = Recorded(time, columns).states(model)
    every = {name: motion[1][:, model.tree.joints[model.getJointId(name)].idx_q] for name in list(model.tree.names)[1:]}
    return {"time": time, **every}, motion


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("cassie_leg", {"knee": "tarsus", "foot": "foot_crank"}),
        ("mit_humanoid_leg", {"hip_ry": "hip_ry_rotor", "knee": "knee_rotor", "ankle": "ankle_rotor"}),
        ("ankle_2rsu", {"ankle_pitch": "crank_left", "ankle_roll": "crank_right"}),
    ],
)
def test_what_was_recorded_elsewhere_leads(name: str, instead: dict[str, str], rng: np.random.Generator) -> None:
    model = pc.load(name)
    every, (_, q, v, a) = _recorded_at(model, rng)
    taken = {"time": every["time"]} | {n: every[instead.get(n, n)] for n in model.independent_joints}
    renamed = {instead.get(n, n): x for n, x in taken.items()}
    _, q2, v2, a2 = Recorded.from_columns(renamed).states(model)
    assert np.abs(q2 - q).max() < 1e-9
    # the splines of other columns are other curves between the samples
    assert np.abs(v2 - v)[5:-5].max() < 1e-4
    assert np.abs(a2 - a)[5:-5].max() < 2e-2


def test_a_gear_with_an_offset_in_degrees_leads(rng: np.random.Generator) -> None:
    tree = pin.Model()
    for name in ("link", "motor"):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Gear("link", "motor", -7.0, offset=0.3)])
    time = np.linspace(0.0, 1.0, 21)
    link = 0.2 * np.sin(time)
    motor = {
        "motor": np.degrees(-7.0 * link + 0.3),
    }
    _, q, v, _ = Recorded(time, motor, degrees=True).states(model)
    assert q[:, 0] == pytest.approx(link, abs=1e-12)
    assert v[:, 0] == pytest.approx(0.2 * np.cos(time), abs=1e-6)


def test_too_few_joints_of_a_loop_propose_what_to_do() -> None:
    model = pc.load("cassie_leg")
    time = np.linspace(0.0, 1.0, 8)
    held = {n: np.full(8, model.q_reference[model.getJointId(n) - 1]) for n in list(model.tree.names)[1:]}
    for name in ("knee", "shin", "foot"):
        del held[name]
    with pytest.raises(TrajectoryError) as caught:
        Recorded(time, held).states(model)
    assert "--independent tarsus,heel_spring," in str(caught.value)
    assert "need 3 joints that determine" in str(caught.value)
    # springs rest rather than motors
    held["tarsus"] = held["tarsus"] + 0.05 * np.sin(2.0 * np.pi * time)
    _, q, *_ = Recorded(time, held, missing="hold").states(model)
    moved = {n: float(np.ptp(q[:, model.getJointId(n) - 1])) for n in ("knee", "shin", "heel_spring")}
    assert moved["knee"] > 0.04
    assert max(moved["shin"], moved["heel_spring"]) < 1e-12
