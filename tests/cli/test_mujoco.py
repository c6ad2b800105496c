"""``pin-clusters mujoco``: errors of trees in MuJoCo, without and with ``pc.mujoco.Exact``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.commands import refused, run

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.studies import in_mujoco, study
from pin_clusters.studies.study import metrics

mujoco = pytest.importorskip("mujoco", minversion="3.11.0")


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["mit_humanoid", "ankle_2rsu"])
def test_errors_are_those_of_the_study_and_zero_with_the_callback(robot: str) -> None:
    model = pc.load(robot)
    tree = in_mujoco.tree_of(model)
    armature = tree.dof_armature.copy()
    result = in_mujoco.measure(model, tree, frames=None if model.closures else ["left_toe"])
    np.testing.assert_array_equal(tree.dof_armature, armature)  # the user's model is not modified
    assert result.torque["callback"].max() < 1e-8
    assert result.seconds["file"] > 0.0
    if model.closures:
        assert result.torque["file"].max() > 5.0
        return
    expected = study.run(model, duration=2.0 / 3.0, dt=2e-3)
    share = expected.share(expected.rms_error)["diagonal"]
    np.testing.assert_allclose(result.torque["file"], share, rtol=0.05, atol=0.05)  # fewer samples
    q = np.array([pc.neutral(model)])
    osim = metrics.osim_error(model, "left_toe", q, {"": approximations.of(model)["diagonal"]}, rows_of="vertical")
    assert 0.3 < result.touch["left_toe"]["file"] / (100.0 * osim.mean[""]) < 3.0
    assert result.touch["left_toe"]["callback"] < 1e-9


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:robot 'mini_cheetah'")  # published inertias that no real body has
def test_a_floating_base_that_moves() -> None:
    """The base turns and accelerates, so the conversion of accelerations to MuJoCo matters."""
    model = pc.load("mini_cheetah")
    result = in_mujoco.measure(model, trajectory=study.motion("mini_cheetah_trot", dt=1e-2))
    assert result.torque["callback"].max() < 1e-8 < 1.0 < result.torque["file"].max()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("mujoco", "mit_humanoid_leg")
    assert result.exit_code == 0, result.stderr
    for words in ("torque, ankle", "touch-down, ", "time of mj_step", "with pc.mujoco.Exact", "Not simulated"):
        assert words in result.stdout
    assert not list(tmp_path.iterdir())
    pc.to_mjcf(pc.load("mit_humanoid_leg"), file=tmp_path / "leg.xml")
    result = run("mujoco", "mit_humanoid_leg", "--mjcf", "leg.xml")
    assert "leg.xml" in result.stdout
    assert "carry independent joints" in refused("mujoco", "tello")
    assert "MuJoCo cannot read nope.xml" in refused("mujoco", "mit_humanoid_leg", "--mjcf", "nope.xml")
    assert "not the same robot" in refused("mujoco", "mini_cheetah", "--mjcf", "leg.xml")
    pc.to_mjcf(pc.ClusterModel(pc.load("mit_humanoid_leg").tree), file=tmp_path / "bare.xml")
    assert "has no rotors and no loops" in refused("mujoco", "bare.xml")
