"""A ground and its forces in the scene."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters import visualize

MASS, HALF = 2.0, np.array([0.2, 0.1, 0.05])
POINTS = {"block": [[x, y, -HALF[2]] for x in (-HALF[0], HALF[0]) for y in (-HALF[1], HALF[1])]}


@cache
def dropped(height: float = 0.0) -> tuple[pc.ClusterModel, pc.Ground, pc.SimulationResult]:
    """A block that falls flat from 2 cm, 64 ms long, and lies."""
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "block")
    tree.appendBodyToJoint(joint, pin.Inertia.FromBox(MASS, *(2.0 * HALF)), pin.SE3.Identity())
    model, ground = pc.ClusterModel(tree, name="block"), pc.Ground(height=height)
    q = pc.on_ground(model, pc.neutral(model), ground, POINTS, above=0.02)
    return model, ground, pc.simulate(model, q, np.zeros(6), None, 0.4, ground=ground, touching=POINTS)


def tracks(viz: visualize.MeshcatVisualizer, path: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Tracks of a node: times and values."""
    (found,) = [a for a in viz.viewer.window.commands[-1]["animations"] if a["path"] == f"/meshcat/{path}"]
    clip = found["clip"]
    return {
        t["name"]: (np.array([k["time"] for k in t["keys"]]) / clip["fps"], np.array([k["value"] for k in t["keys"]]))
        for t in clip["tracks"]
    }


def transform(viz: visualize.MeshcatVisualizer, path: str) -> np.ndarray:
    return np.reshape(viz.viewer.window.transform(f"/meshcat/{path}"), (4, 4)).T


@pytest.mark.parametrize("height", [0.0, 0.3])
def test_arrows_are_mean_forces(height: float) -> None:
    model, ground, result = dropped(height)
    viz = visualize.animate(model, result.time, result.q, ground=ground, contacts=result)
    moved = tracks(viz, "pinocchio/forces/ground:block")
    times, scales = moved[".scale"]
    lengths = scales[:, 2]
    np.testing.assert_allclose(scales[:, :2], 1.0)
    lies = lengths[(times > 0.15) & (times < 0.38)]
    np.testing.assert_allclose(lies, lies[0], rtol=1e-5)
    landed = float(np.sqrt(2.0 * 0.02 / 9.81))
    assert (lengths[times < landed - 0.018] < 1e-5).all()
    # the mean over 33 ms about the impact: the momentum of the fall, and weight
    near = int(np.argmin(np.abs(times - landed)))
    low, high = times[near] - 1.0 / 60.0, times[near] + 1.0 / 60.0
    assert low < landed < high
    fall = MASS * 9.81 * landed
    expected = (fall + MASS * 9.81 * (high - landed)) * 30.0 / (MASS * 9.81)
    assert lengths[near] / lies[0] == pytest.approx(expected, rel=0.04)  # a step is 3 % of the window
    legend = viz.legend()
    assert ("#009e73", "ground forces") in legend.entries
    assert not any("constraints" in text for _, text in legend.entries)
    assert "Ground forces are means over 33 ms." in legend.notes
    # the top of the plate is below the ground by a few parts in a thousand of what is seen
    top = transform(viz, "pinocchio/ground")[2, 3]
    assert height - 0.02 < top < height
    grid = np.reshape(viz.viewer.window.transform("/Grid"), (4, 4)).T
    assert height - 0.005 < grid[2, 3] < height


@pytest.mark.ci
def test_a_ghost_with_forces_stands_beside() -> None:
    model, ground, result = dropped()
    both = (result.time, result.q)
    viz = visualize.animate(model, *both, ghost=both, ground=ground, contacts=result, ghost_contacts=result)
    aside = transform(viz, "pinocchio_ghost")[:3, 3]
    assert aside[1] > 2.0 * HALF[1]
    assert aside[0] == aside[2] == 0.0
    own, other = (tracks(viz, f"{root}/forces/ground:block") for root in ("pinocchio", "pinocchio_ghost"))
    np.testing.assert_allclose(own[".scale"][1], other[".scale"][1])
    over = visualize.animate(model, *both, ghost=both, ground=ground, contacts=result)
    assert np.all(transform(over, "pinocchio_ghost") == np.eye(4))


def test_a_ground_is_taken_away_again() -> None:
    model, ground, result = dropped()
    viz = visualize.animate(model, result.time, result.q, ground=ground, contacts=result)
    viz.animate(result.time, result.q)
    assert not any(path.endswith("/ground") for path in viz.viewer.window.paths)


def test_contacts_of_another_motion_are_refused() -> None:
    model, ground, result = dropped()
    with raises(pc.ShapeError, "contacts"):
        visualize.animate(model, result.time[:-1], result.q[:-1], ground=ground, contacts=result)
