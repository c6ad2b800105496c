"""Each MJCF file that is at hand, as MuJoCo compiles it (``mujoco.MjSpec``): bodies, joints, inertias, equalities.

Files: those of robots of the package and of installed packages, and of folders that the environment variable
PIN_CLUSTERS_MJCF_FILES names, such as a copy of MuJoCo Menagerie.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.mujoco_states import Twin, body_name, joint_name

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco")

PACKAGES = ("mujoco", "example_robot_data", "dm_control", "gymnasium", "robosuite")
ROUNDING = 1e-9
WRITTEN = 1e-5
"""Of numbers of a file that MuJoCo had to write out, with six digits, for what only its compiler expands."""
INERTIA = 1e-7
"""Of a mesh, whose volume both sum over its faces, in another order."""
OPEN = 1e-6
"""Of an equality in the reference pose, which our constraints close to 1e-9 and MuJoCo sees in its units."""
RANK = 1e-7
FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's kinds of joints."""


def _folders() -> list[Path]:
    package = Path(str(resources.files("pin_clusters")))
    found = [package / "robot_models", package.parent / "robot_models"]
    found += [Path(x) for x in os.environ.get("PIN_CLUSTERS_MJCF_FILES", "").split(os.pathsep) if x]
    specs = (importlib.util.find_spec(name) for name in PACKAGES)
    return found + [Path(str(s.origin)).parent for s in specs if s and s.origin] + [
        Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()
    ]  # fmt: skip


def _files() -> list[Path]:
    files = (file for folder in _folders() if folder.is_dir() for file in sorted(folder.rglob("*.xml")))
    return [file for file in files if "<mujoco" in file.read_text(encoding="utf-8", errors="replace")]


def _label(file: Path) -> str:
    return "/".join(file.parts[-3:])


def _both(file: Path) -> tuple[pc.ClusterModel, Any, float]:
    """Read a file twice; a part of another file, which is no robot, is skipped, and one that only MuJoCo reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what MuJoCo says of its own files
            compiled = mujoco.MjSpec.from_file(str(file)).compile()
    except (ValueError, mujoco.FatalError) as error:
        pytest.skip(f"MuJoCo does not compile it: {str(error).splitlines()[0]}")
    if not compiled.njnt:
        pytest.skip("it has no joints")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = pc.buildModelFromMJCF(file)
    except pc.PinClustersError as error:
        pytest.skip(f"it is refused: {error}")
    said = " ".join(str(x.message) for x in told)
    if "align=true" in said:
        pytest.skip("MuJoCo moves the frame of a free body to its centre of mass, and we warn that we do not")
    return model, compiled, WRITTEN if "compiler expanded the file" in said else ROUNDING


def _held(m: Any) -> dict[int, float]:
    """Return the joints that an active equality holds at a value, and how far from the pose of the file."""
    alone = (m.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (m.eq_obj2id < 0) & (m.eq_active0 != 0)
    return {int(m.eq_obj1id[e]): float(m.eq_data[e, 0]) for e in np.flatnonzero(alone)}


class Pair:
    """A robot here and there, both in the pose of the file, with held joints where they are held."""

    def __init__(self, model: pc.ClusterModel, m: Any, rounding: float) -> None:
        self.rounding = rounding
        self.model, self.m, self.tree = model, m, model.tree
        self.state, self.data = mujoco.MjData(m), model.tree.createData()
        self.names = [joint_name(m, j) for j in range(m.njnt)]
        q = pin.neutral(self.tree)
        for j, name in enumerate(self.names):
            at = int(m.jnt_qposadr[j])
            self.state.qpos[at] += _held(m).get(j, 0.0)
            if self.tree.existJointName(name):
                first = self.tree.joints[self.tree.getJointId(name)].idx_q
                if m.jnt_type[j] == FREE:
                    q[first : first + 7] = self.state.qpos[at + np.array([0, 1, 2, 4, 5, 6, 3])]
                elif m.jnt_type[j] >= SLIDE:
                    q[first] = self.state.qpos[at]
        mujoco.mj_kinematics(m, self.state)
        mujoco.mj_comPos(m, self.state)
        pin.computeJointJacobians(self.tree, self.data, q)
        pin.updateFramePlacements(self.tree, self.data)
        self.J = np.array(self.data.J).reshape(6, -1)
        self.scale = max(1.0, np.abs(self.state.xpos).max())

    def split(self) -> list[str]:
        """Return ball joints that are two hinges here, as a connect lets their bodies spin about themselves."""
        return [
            name for name, kind in zip(self.names, self.m.jnt_type, strict=True)
            if kind == BALL and self.tree.existJointName(f"{name}_1")
        ]  # fmt: skip

    def carrier(self, body: int) -> tuple[int, int]:
        """Return the body whose joints move a body, and their last one, -1 if nothing moves it."""
        while body:
            joints = [j for j in range(self.m.njnt) if self.m.jnt_bodyid[j] == body]
            moving = [j for j in joints if j not in _held(self.m)]
            if moving:
                return body, moving[-1]
            body = int(self.m.body_parentid[body])
        return 0, -1

    def frame(self, body: int) -> int:
        return int(self.tree.getFrameId(body_name(self.m, body), pin.FrameType.BODY))

    def bodies(self) -> None:
        """Each body is where MuJoCo has it, and hangs from the same joint."""
        for body in range(1, self.m.nbody):
            frame, joint = self.frame(body), self.carrier(body)[1]
            placed = self.data.oMf[frame]
            np.testing.assert_allclose(placed.translation, self.state.xpos[body], atol=self.rounding * self.scale)
            np.testing.assert_allclose(placed.rotation.ravel(), self.state.xmat[body], atol=self.rounding)
            name = self.tree.names[self.tree.frames[frame].parentJoint]
            expected = self.names[joint] if joint >= 0 else "universe"
            assert name == (f"{expected}_2" if expected in self.split() else expected)

    def joints(self) -> None:
        """Each joint is of MuJoCo's kind, with its axis through its anchor, and its range; there are no others."""
        left = set(self.names) - {self.names[j] for j in _held(self.m)} - set(self.split())
        assert left | {f"{n}_{k}" for n in self.split() for k in (1, 2)} == set(self.tree.names[1:])
        sizes = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}
        for j, name in enumerate(self.names):
            if name not in left:
                continue
            ours, kind = self.tree.joints[self.tree.getJointId(name)], int(self.m.jnt_type[j])
            assert ours.nv == sizes[kind]
            if ours.nv > 1:
                continue
            axis, anchor = self.state.xaxis[j], self.state.xanchor[j]
            column = np.cross(anchor, axis) if kind == HINGE else axis, axis if kind == HINGE else np.zeros(3)
            np.testing.assert_allclose(self.J[:, ours.idx_v], np.hstack(column), atol=self.rounding * self.scale)
            low, high = self.tree.lowerPositionLimit[ours.idx_q], self.tree.upperPositionLimit[ours.idx_q]
            if self.m.jnt_limited[j]:
                np.testing.assert_allclose([low, high], self.m.jnt_range[j], atol=self.rounding)
            else:
                assert min(abs(low), abs(high)) > 1e10  # infinite, or the largest number

    def inertias(self) -> None:
        """The bodies that a joint carries have MuJoCo's mass, centre and inertia."""
        found: dict[int, pin.Inertia] = {}
        for body in range(1, self.m.nbody):
            if (joint := self.carrier(body)[1]) < 0:
                continue
            R = self.state.ximat[body].reshape(3, 3)
            I = R @ np.diag(self.m.body_inertia[body]) @ R.T
            part = pin.Inertia(float(self.m.body_mass[body]), self.state.xipos[body], I)
            found[joint] = found[joint] + part if joint in found else part
        for joint, expected in found.items():
            name = self.names[joint] + "_2" * (self.names[joint] in self.split())
            i = self.tree.getJointId(name)
            given, scale = self.data.oMi[i].act(self.tree.inertias[i]).matrix(), np.abs(expected.matrix()).max()
            np.testing.assert_allclose(given, expected.matrix(), atol=max(INERTIA, self.rounding) * scale)

    def equalities(self, rng: np.random.Generator) -> None:
        """Off the reference pose, all equalities of MuJoCo are closed, and forbid just what is dependent here."""
        model, m = self.model, self.m
        q = model.q_reference
        if m.neq:
            try:
                q = pc.integrate(model, q, 0.02 * rng.uniform(-1.0, 1.0, model.nv))
            except pc.BranchLost:
                pass
        twin = Twin(model, m)
        for j, value in _held(m).items():
            twin.state.qpos[m.jnt_qposadr[j]] += value
        map_ = twin.put(q, np.zeros(model.nv), np.zeros(model.nv))
        m.opt.disableflags = 0
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
        mujoco.mj_fwdPosition(m, twin.state)
        rows = twin.state.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = np.zeros((len(rows), m.nv))
        if mujoco.mj_isSparse(m):
            d = twin.state
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J[...] = twin.state.efc_J.reshape(-1, m.nv)
        J = J[rows]
        open_ = max(OPEN, self.rounding) * self.scale
        assert np.abs(twin.state.efc_pos[rows]).max(initial=0.0) < open_
        rank = np.linalg.matrix_rank(J, tol=RANK * np.abs(J).max(initial=1.0)) if len(J) else 0
        assert model.nv == m.nv - rank - len(self.split())
        assert np.abs(J @ map_).max(initial=0.0) < open_ * max(1.0, np.abs(J).max(initial=0.0))


@pytest.mark.ci
@pytest.mark.parametrize("file", _files(), ids=_label)
def test_a_file_is_read_as_mujoco_reads_it(file: Path, rng: np.random.Generator) -> None:
    pair = Pair(*_both(file))
    pair.bodies()
    pair.joints()
    pair.inertias()
    pair.equalities(rng)


def test_files_of_the_package_are_among_them() -> None:
    assert {"cassie", "robotiq_2f85"} <= {file.parent.name for file in _files()}
