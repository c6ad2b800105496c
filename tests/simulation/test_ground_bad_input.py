"""Bad input to a ground, what touches it, and limits: what was given, and the cure."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support import grounds

import pin_clusters as pc

pytestmark = grounds.NEEDED


def run(name: str = "mini_cheetah", **changes: Any) -> pc.SimulationResult:
    model, _ = grounds.robot(name)
    feet = grounds.feet(name) if name in ("mini_cheetah", "tello") else None
    q = pc.on_ground(model, pc.neutral(model), touching=feet) if feet else pc.neutral(model)
    given = {"q0": q, "v0": np.zeros(model.nv), "duration": 2e-3, "ground": pc.Ground(), "touching": feet} | changes
    return pc.simulate(model, **given)


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({"friction": -0.1}, pc.SimulationError, r"friction = -0.1, but .* between 0 and 10 \(rubber"),
        ({"friction": 10.5}, pc.SimulationError, "Is it an angle"),
        ({"friction": np.nan}, pc.SimulationError, "friction = nan is not finite"),
        ({"friction": np.inf}, pc.SimulationError, "friction = inf is not finite"),
        ({"friction": "0.8"}, pc.ArgumentTypeError, "friction must be a number, got '0.8'"),
        ({"friction": True}, pc.ArgumentTypeError, "friction must be a number, got True"),
        ({"friction": None}, pc.ArgumentTypeError, "friction must be a number"),
        ({"normal": (0.0, 0.0, 0.0)}, pc.SimulationError, "is no direction"),
        ({"normal": (0.0, 0.0, np.nan)}, pc.SimulationError, "is no direction"),
        ({"normal": (0.0, 1.0)}, pc.ShapeError, r"shape \(2,\), expected \(3,\)"),
        ({"normal": "up"}, pc.ArgumentTypeError, "normal"),
        ({"height": np.nan}, pc.SimulationError, "height = nan is not finite"),
        ({"height": [0.0]}, pc.ArgumentTypeError, "height must be a number"),
    ],
)
def test_grounds(how: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        pc.Ground(**how)


@pytest.mark.parametrize(
    ("points", "error", "says"),
    [
        ({"FL_kne": [0.0, 0.0, -0.2]}, pc.UnknownNameError, "no frame or joint 'FL_kne'. Did you mean 'FL_knee'"),
        (["no such frame"], pc.UnknownNameError, "no frame or joint 'no such frame'"),
        ("no such frame", pc.UnknownNameError, "no frame or joint 'no such frame'"),
        ({"FL_knee": [0.0, 0.0]}, pc.ShapeError, r"shape \(2,\), expected \(3,\) for one point, or \(k, 3\)"),
        ({"FL_knee": np.zeros((1, 1, 3))}, pc.ShapeError, "expected"),
        ({"FL_knee": [0.0, np.nan, 0.0]}, pc.SimulationError, "not finite"),
        ({"FL_knee": "here"}, pc.PinClustersError, "FL_knee"),
        ({3: [0.0, 0.0, 0.0]}, pc.ArgumentTypeError, "names of frames or joints are expected, got 3"),
        ({"universe": [0.0, 0.0, 0.0]}, pc.SimulationError, "fixed to the world"),
        (7, pc.ArgumentTypeError, "points must be names of frames, or a dict"),
        ({}, pc.SimulationError, "names no point"),
        ([], pc.SimulationError, "names no point"),
        ({"FL_knee": np.zeros((0, 3))}, pc.SimulationError, "names no point"),
    ],
)
def test_points(points: Any, error: type[Exception], says: str) -> None:
    model, _ = grounds.robot("mini_cheetah")
    with pytest.raises(error, match=says):
        pc.simulate(
            model, pc.neutral(model), np.zeros(18), duration=1e-3, ground=pc.Ground(height=-9.0), touching=points
        )


def test_points_of_another_model_and_radii() -> None:
    model, _ = grounds.robot("mini_cheetah")
    _, other = grounds.robot("jvrc1")
    with pytest.raises(pc.SimulationError, match="made for another model"):
        run(touching=other)
    for radius, error in ((-0.01, pc.SimulationError), (np.nan, pc.SimulationError), ("1", pc.ArgumentTypeError)):
        with pytest.raises(error, match="radius"):
            pc.contact_points(model, {"FL_knee": [0.0, 0.0, 0.0]}, radius)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"ground": True}, pc.ArgumentTypeError, r"ground must be a pc.Ground, got bool. Make one: pc.Ground"),
        ({"ground": 0.8}, pc.ArgumentTypeError, "ground must be a pc.Ground, got float"),
        ({"ground": None}, pc.SimulationError, "points touch nothing without a ground"),
        ({"limits": "torque"}, pc.ArgumentTypeError, 'True, False, "position" or "effort", got \'torque\''),
        ({"limits": 1.0}, pc.ArgumentTypeError, "limits must be"),
        ({"limits": None}, pc.ArgumentTypeError, "limits must be"),
        ({"limits": ["position"]}, pc.ArgumentTypeError, "limits must be"),
        ({"self_collisions": 1}, pc.ArgumentTypeError, "self_collisions must be True or False, got 1"),
        ({"self_collisions": True}, pc.SimulationError, "self_collisions needs shapes"),
        ({"method": "rk4"}, pc.SimulationError, "'rk4' is not known with ground or limits"),
        ({"method": "moreaux"}, pc.SimulationError, "'moreaux' is not known.* Did you mean 'moreau'"),
        ({"method": 3}, pc.SimulationError, "moreau"),
        ({"dynamics": lambda q, v, tau: tau}, pc.SimulationError, "other dynamics.*armature_model"),
        ({"tau": np.zeros(3)}, pc.ShapeError, "tau has size 3"),
        ({"dt": 0.0}, pc.SimulationError, "dt = 0 s"),
    ],
)
def test_arguments(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        run(**changes)


def test_moreau_needs_a_ground_and_contacts_are_not_held_with_it() -> None:
    model, _ = grounds.robot("mini_cheetah")
    with pytest.raises(pc.SimulationError, match="'moreau' is not known"):
        pc.simulate(model, pc.neutral(model), np.zeros(18), duration=1e-3, method="moreau")
    foot = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId("FL_knee"))
    with pytest.raises(pc.SimulationError, match="what is held"):
        run(contacts=[foot])


def test_a_foot_that_begins_below() -> None:
    model, _ = grounds.robot("mini_cheetah")
    q = pc.on_ground(model, pc.neutral(model), touching=grounds.feet("mini_cheetah"))
    q[2] -= 0.01
    with pytest.raises(pc.SimulationError, match=r"begins 0.01 m inside the ground, with .* '.._knee'. Lift it"):
        run(q0=q)
    q[2] += 0.01 - 5e-5  # less than 0.1 mm is put back
    assert run(q0=q).gap.min() > -1e-8


def test_a_start_beyond_a_stop() -> None:
    model = pc.load("ankle_2rsu")
    tree = model.tree.copy()
    high = tree.upperPositionLimit.copy()
    high[2] = -0.2
    tree.upperPositionLimit = high
    stopped = pc.ClusterModel(tree, model.constraints, q_reference=model.q_reference, preferred=model.preferred)
    q = pc.neutral(stopped)
    says = re.escape("beyond a stop: crank_left < -0.2 does not hold. Begin inside")
    with pytest.raises(pc.SimulationError, match=says):
        pc.simulate(stopped, q, np.zeros(2), duration=1e-2, limits=True)
    pc.simulate(stopped, q, np.zeros(2), duration=1e-2, limits="effort")


def shapes(shape: Any, parent: int = 1, moving: bool = True) -> tuple[pc.ClusterModel, pin.GeometryModel]:
    geometry = pin.GeometryModel()
    if shape is not None:
        geometry.addGeometryObject(pin.GeometryObject("shape", parent, parent, pin.SE3.Identity(), shape))
    return grounds.block(), geometry


def test_geometry() -> None:
    coal = pytest.importorskip("coal")
    flat = coal.BVHModelOBBRSS()
    flat.beginModel(2, 4)
    whole = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    whole[0].extend(list(corners))
    whole[1].extend([coal.Triangle(0, 1, 2), coal.Triangle(0, 2, 3)])
    flat.addSubModel(*whole)
    flat.endModel()
    for (model, geometry), error, says in (
        (shapes(None), pc.SimulationError, "no collision shapes|no shape of the geometry moves"),
        (shapes(coal.Sphere(0.1), 0), pc.SimulationError, "no shape of the geometry moves"),
        (shapes(coal.Sphere(0.1), 7), pc.SimulationError, "hangs on joint 7, but .* has joints up to 1"),
        (
            shapes(flat),
            pc.SimulationError,
            "'shape': its points lie in a plane, so its convex hull has no volume",
        ),
        (shapes(coal.TriangleP(*corners[:3])), pc.ArgumentTypeError, "'shape' is a TriangleP; spheres, boxes"),
    ):
        with pytest.raises(error, match=says):
            pc.simulate(
                model, pc.neutral(model), np.zeros(6), duration=1e-3, ground=pc.Ground(height=-2.0), touching=geometry
            )
    model, geometry = shapes(coal.Sphere(0.1))
    with pytest.raises(pc.SimulationError, match="no pairs of the robot's own shapes"):
        pc.simulate(
            model, pc.neutral(model), np.zeros(6), duration=1e-3, ground=pc.Ground(height=-2.0), touching=geometry,
            self_collisions=True,
        )  # fmt: skip
    geometry.addGeometryObject(pin.GeometryObject("wall", 0, 0, pin.SE3.Identity(), coal.Box(1.0, 1.0, 0.2)))
    with pytest.raises(pc.SimulationError, match="inside what it touches"):
        pc.simulate(model, pc.neutral(model), np.zeros(6), duration=1e-3, touching=geometry)
    before = [type(g.geometry).__name__ for g in geometry.geometryObjects], len(geometry.collisionPairs)
    q = pc.neutral(model)
    q[2] = 0.3
    pc.simulate(model, q, np.zeros(6), duration=1e-3, touching=geometry)
    assert before == ([type(g.geometry).__name__ for g in geometry.geometryObjects], len(geometry.collisionPairs))


def test_a_robot_without_shapes() -> None:
    model = pc.load("tello")
    with pytest.raises(pc.SimulationError, match=r"'tello' can touch: it has no collision shapes .* Name points"):
        pc.simulate(model, pc.neutral(model), np.zeros(model.nv), ground=pc.Ground())


def test_an_older_pinocchio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pin, "PGSConstraintSolver")
    with pytest.raises(pc.SimulationError, match=r"need the solvers of Pinocchio 4.1, .* pip install 'pin>=4.1'"):
        run()


def test_on_ground_needs_a_base_that_is_free() -> None:
    model = pc.load("four_bar")
    with pytest.raises(pc.ModelError, match="no free-flyer"):
        pc.on_ground(model, pc.neutral(model), touching={"coupler": (0.0, 0.0, 0.0)})
    with pytest.raises(pc.PinClustersError):
        pc.on_ground(grounds.robot("block")[0], np.zeros(3), touching={"block": (0.0, 0.0, 0.0)})
    with pytest.raises(pc.ArgumentTypeError):
        pc.on_ground(grounds.robot("block")[0], pc.neutral(grounds.block()), 0.8, {"block": (0.0, 0.0, 0.0)})


def test_steps_too_large_are_said_not_hung() -> None:
    with pytest.raises(pc.SimulationError, match=r"diverges|no impulses|cannot follow") as caught:
        run("mini_cheetah", tau=lambda t, q, v: -1e4 * v, duration=0.5, dt=1e-2)
    assert caught.value.result is not None
