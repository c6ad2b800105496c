"""Landings against MuJoCo on the exact robot that ``pc.to_mjcf`` writes: the impulse of the first milliseconds.

MuJoCo's contacts are springs and dampers, of two time steps here, and the rotors are bodies tied by equalities as
stiff. Critically damped ones rebound with exp(-2) = 14 % of the speed; ten times that leaves 1 %.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support import grounds

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco", minversion="3.3.4")
from support.compiled import Compiled  # noqa: E402

pytestmark = grounds.NEEDED

STEP, HERE, BALL = 3.125e-5, 6.25e-5, 1e-3


def there(model: pc.ClusterModel, feet: dict[str, np.ndarray], q: np.ndarray, v: np.ndarray, span: float) -> np.ndarray:
    """The sum of normal impulses until each step, in MuJoCo."""
    root = ET.fromstring(pc.to_mjcf(model, "exact", timestep=STEP))
    option = root.find("option")
    assert option is not None
    option.attrib.update({"cone": "elliptic", "impratio": "100", "iterations": "200", "tolerance": "1e-12"})
    for geom in root.iter("geom"):
        geom.attrib.update({"contype": "0", "conaffinity": "0"})
    hard = {"solref": f"{2 * STEP} 10", "solimp": "0.99 0.99 0.001", "friction": "0.8 0 0", "condim": "3"}
    world = root.find("worldbody")
    assert world is not None
    ET.SubElement(world, "geom", {"type": "plane", "size": "9 9 1", "contype": "1", "conaffinity": "2", **hard})
    for joint, points in feet.items():
        (body,) = [b for b in root.iter("body") if any(j.get("name") == joint for j in b.findall("joint"))]
        for x in points.reshape(-1, 3):
            pos = " ".join(repr(float(c)) for c in x)
            ET.SubElement(body, "geom", {"type": "sphere", "size": str(BALL), "pos": pos, "mass": "0",
                                         "contype": "2", "conaffinity": "1", **hard})  # fmt: skip
    other = Compiled(model, ET.tostring(root, encoding="unicode"))
    other.place(q)
    other.data.qvel[:] = other.G(q) @ v
    found, total, force = [0.0], 0.0, np.zeros(6)
    for _ in range(round(span / STEP)):
        mujoco.mj_step(other.there, other.data)
        for i in range(other.data.ncon):
            mujoco.mj_contactForce(other.there, other.data, i, force)
            total += force[0] * STEP
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("name", ["mini_cheetah", "mit_humanoid"])
def test_touch_down_impulses_agree(name: str) -> None:
    """A quadruped on its feet and a humanoid on its toes: within 0.5 %."""
    model, _ = grounds.robot(name)
    feet = grounds.feet(name)
    if name == "mini_cheetah":
        home = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    else:
        feet = {joint: x[x[:, 0] > 0.0] for joint, x in feet.items()}
        x = np.zeros(model.nv)
        for joint in model.independent_joints[1:]:
            ends = {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}
            x[model.joint_idx_v(joint)] = next((a for end, a in ends.items() if joint.endswith(end)), 0.0)
        home = pc.integrate(model, pc.neutral(model), x)
    points = pc.contact_points(model, feet, BALL)
    q = pc.on_ground(model, home, touching=points, above=1e-3)
    v = np.zeros(model.nv)
    v[2] = -1.4
    span = 1.5e-3
    r = pc.simulate(model, q, v, duration=span, dt=HERE, ground=pc.Ground(0.8), touching=points)
    here = float(r.contact_impulses[..., 2].sum())
    assert here > 1.0
    assert there(model, feet, q, v, span)[-1] == pytest.approx(here, rel=0.005)
    rough = pc.ClusterModel(pc.baselines.armature_model(model))
    if name == "mit_humanoid":  # what an approximation gives is another number: the test sees such differences
        start, points = rough_pose(model, rough, q), pc.contact_points(rough, feet, BALL)
        r = pc.simulate(rough, start, v, duration=span, dt=HERE, ground=pc.Ground(0.8), touching=points)
        assert abs(r.contact_impulses[..., 2].sum() / here - 1.0) > 0.1


def rough_pose(model: pc.ClusterModel, rough: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """The same pose without rotors."""
    found = pc.neutral(rough)
    for j in range(1, rough.njoints):
        mine = model.tree.joints[model.getJointId(rough.names[j])]
        there = rough.tree.joints[j]
        found[there.idx_q : there.idx_q + there.nq] = q[mine.idx_q : mine.idx_q + mine.nq]
    return found
