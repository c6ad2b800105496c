"""Bad input to a ground, what touches it, and limits: what was given, and the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support import grounds
from support.messages import raises

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
        ({"friction": -0.1}, pc.SimulationError, "friction -0.1 0 10"),
        ({"friction": 10.5}, pc.SimulationError, "friction 10.5 0"),
        ({"friction": np.nan}, pc.SimulationError, "friction nan"),
        ({"friction": np.inf}, pc.SimulationError, "friction inf"),
        ({"friction": "0.8"}, pc.ArgumentTypeError, "friction '0.8'"),
        ({"friction": True}, pc.ArgumentTypeError, "friction True"),
        ({"friction": None}, pc.ArgumentTypeError, "friction"),
        ({"normal": (0.0, 0.0, 0.0)}, pc.SimulationError, "normal 0.0"),
        ({"normal": (0.0, 0.0, np.nan)}, pc.SimulationError, "normal 0.0"),
        ({"normal": (0.0, 1.0)}, pc.ShapeError, "(2,) (3,)"),
        ({"normal": "up"}, pc.ArgumentTypeError, "normal"),
        ({"height": np.nan}, pc.SimulationError, "height nan"),
        ({"height": [0.0]}, pc.ArgumentTypeError, "height"),
    ],
)
def test_grounds(how: dict[str, Any], error: type[Exception], says: str) -> None:
    with raises(error, says):
        pc.Ground(**how)


@pytest.mark.parametrize(
    ("points", "error", "says"),
    [
        ({"FL_kne": [0.0, 0.0, -0.2]}, pc.UnknownNameError, "'FL_kne' 'FL_knee'"),
        (["no such frame"], pc.UnknownNameError, "'no such frame'"),
        ("no such frame", pc.UnknownNameError, "'no such frame'"),
        ({"FL_knee": [0.0, 0.0]}, pc.ShapeError, "(2,) (3,) 3"),
        ({"FL_knee": np.zeros((1, 1, 3))}, pc.ShapeError, "'FL_knee' contact_points 3"),
        ({"FL_knee": [0.0, np.nan, 0.0]}, pc.SimulationError, "'FL_knee' contact_points nan"),
        ({"FL_knee": "here"}, pc.PinClustersError, "FL_knee"),
        ({3: [0.0, 0.0, 0.0]}, pc.ArgumentTypeError, "3"),
        ({"universe": [0.0, 0.0, 0.0]}, pc.SimulationError, "'universe' contact_points"),
        (7, pc.ArgumentTypeError, "points"),
        ({}, pc.SimulationError, "simulate"),
        ([], pc.SimulationError, "simulate"),
        ({"FL_knee": np.zeros((0, 3))}, pc.SimulationError, "simulate"),
    ],
)
def test_points(points: Any, error: type[Exception], says: str) -> None:
    model, _ = grounds.robot("mini_cheetah")
    with raises(error, says):
        pc.simulate(
            model, pc.neutral(model), np.zeros(18), duration=1e-3, ground=pc.Ground(height=-9.0), touching=points
        )


def test_points_of_another_model_and_radii() -> None:
    model, _ = grounds.robot("mini_cheetah")
    _, other = grounds.robot("jvrc1")
    with raises(pc.SimulationError, "'mini_cheetah' simulate"):
        run(touching=other)
    for radius, error in ((-0.01, pc.SimulationError), (np.nan, pc.SimulationError), ("1", pc.ArgumentTypeError)):
        with raises(error, "radius"):
            pc.contact_points(model, {"FL_knee": [0.0, 0.0, 0.0]}, radius)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"ground": True}, pc.ArgumentTypeError, "ground pc.Ground bool"),
        ({"ground": 0.8}, pc.ArgumentTypeError, "ground pc.Ground float"),
        ({"ground": None}, pc.SimulationError, "simulate"),
        ({"limits": "torque"}, pc.ArgumentTypeError, "effort 'torque'"),
        ({"limits": 1.0}, pc.ArgumentTypeError, "limits"),
        ({"limits": None}, pc.ArgumentTypeError, "limits"),
        ({"limits": ["position"]}, pc.ArgumentTypeError, "limits"),
        ({"self_collisions": 1}, pc.ArgumentTypeError, "self_collisions 1"),
        ({"self_collisions": True}, pc.SimulationError, "self_collisions"),
        ({"method": "rk4"}, pc.SimulationError, "'rk4'"),
        ({"method": "moreaux"}, pc.SimulationError, "'moreaux' 'moreau'"),
        ({"method": 3}, pc.SimulationError, "moreau"),
        ({"dynamics": lambda q, v, tau: tau}, pc.SimulationError, "dynamics pc.baselines.armature_model"),
        ({"tau": np.zeros(3)}, pc.ShapeError, "tau 3"),
        ({"dt": 0.0}, pc.SimulationError, "dt 0"),
    ],
)
def test_arguments(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with raises(error, says):
        run(**changes)


def test_moreau_needs_a_ground_and_contacts_are_not_held_with_it() -> None:
    model, _ = grounds.robot("mini_cheetah")
    with raises(pc.SimulationError, "'moreau'"):
        pc.simulate(model, pc.neutral(model), np.zeros(18), duration=1e-3, method="moreau")
    foot = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId("FL_knee"))
    with raises(pc.SimulationError, "simulate dynamics pc.ClusterModel"):
        run(contacts=[foot])


def test_a_foot_that_begins_below() -> None:
    model, _ = grounds.robot("mini_cheetah")
    q = pc.on_ground(model, pc.neutral(model), touching=grounds.feet("mini_cheetah"))
    q[2] -= 0.01
    with raises(pc.SimulationError, "0.01"):
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
    with raises(pc.SimulationError, "crank_left -0.2"):
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
        (shapes(None), pc.SimulationError, "simulate"),
        (shapes(coal.Sphere(0.1), 0), pc.SimulationError, ""),
        (shapes(coal.Sphere(0.1), 7), pc.SimulationError, "7 1"),
        (
            shapes(flat),
            pc.SimulationError,
            "'shape'",
        ),
        (shapes(coal.TriangleP(*corners[:3])), pc.ArgumentTypeError, "'shape' TriangleP"),
    ):
        with raises(error, says):
            pc.simulate(
                model, pc.neutral(model), np.zeros(6), duration=1e-3, ground=pc.Ground(height=-2.0), touching=geometry
            )
    model, geometry = shapes(coal.Sphere(0.1))
    with raises(pc.SimulationError, "simulate self_collisions"):
        pc.simulate(
            model, pc.neutral(model), np.zeros(6), duration=1e-3, ground=pc.Ground(height=-2.0), touching=geometry,
            self_collisions=True,
        )  # fmt: skip
    geometry.addGeometryObject(pin.GeometryObject("wall", 0, 0, pin.SE3.Identity(), coal.Box(1.0, 1.0, 0.2)))
    with raises(pc.SimulationError, "'block' simulate q0"):
        pc.simulate(model, pc.neutral(model), np.zeros(6), duration=1e-3, touching=geometry)
    before = [type(g.geometry).__name__ for g in geometry.geometryObjects], len(geometry.collisionPairs)
    q = pc.neutral(model)
    q[2] = 0.3
    pc.simulate(model, q, np.zeros(6), duration=1e-3, touching=geometry)
    assert before == ([type(g.geometry).__name__ for g in geometry.geometryObjects], len(geometry.collisionPairs))


def test_a_robot_without_shapes() -> None:
    model = pc.load("tello")
    with raises(pc.SimulationError, "'tello'"):
        pc.simulate(model, pc.neutral(model), np.zeros(model.nv), ground=pc.Ground())


def test_an_older_pinocchio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pin, "PGSConstraintSolver")
    with raises(pc.SimulationError, "4.1 'pin>=4.1'"):
        run()


def test_on_ground_needs_a_base_that_is_free() -> None:
    model = pc.load("four_bar")
    with raises(pc.ModelError, "'four_bar' on_ground"):
        pc.on_ground(model, pc.neutral(model), touching={"coupler": (0.0, 0.0, 0.0)})
    with pytest.raises(pc.PinClustersError):
        pc.on_ground(grounds.robot("block")[0], np.zeros(3), touching={"block": (0.0, 0.0, 0.0)})
    with pytest.raises(pc.ArgumentTypeError):
        pc.on_ground(grounds.robot("block")[0], pc.neutral(grounds.block()), 0.8, {"block": (0.0, 0.0, 0.0)})


def test_steps_too_large_are_said_not_hung() -> None:
    with raises(pc.SimulationError, "simulate") as caught:
        run("mini_cheetah", tau=lambda t, q, v: -1e4 * v, duration=0.5, dt=1e-2)
    assert caught.value.result is not None


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"joints": [1, 0]}, pc.SimulationError, "joints[1] 0 model.getJointId(name)"),
        ({"joints": [1, -1]}, pc.SimulationError, "joints[1] -1"),
        ({"joints": np.array([1, 2**64 - 1], dtype=np.uint64)}, pc.SimulationError, "joints[1]"),
        ({"joints": [1.0, 1.0]}, pc.ArgumentTypeError, "joints[0] float64"),
        ({"joints": [True, True]}, pc.ArgumentTypeError, "joints[0] bool"),
        ({"joints": ["block", "block"]}, pc.ArgumentTypeError, "joints"),
        ({"joints": [[1, 1], [1, 1]]}, pc.ShapeError, "joints (2, 2)"),
        ({"places": np.zeros((3, 3))}, pc.ShapeError, "places (3, 3) (2, 3) 2"),
        ({"places": np.zeros(3)}, pc.ShapeError, "places (3,) (2, 3)"),
        ({"places": [[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]]}, pc.SimulationError, "places[1] nan"),
        ({"places": [[0.0, 0.0, 0.0], [0.0, -np.inf, 0.0]]}, pc.SimulationError, "places[1] -inf"),
        ({"places": "here"}, pc.ArgumentTypeError, "places"),
        ({"radii": [0.0, -0.3]}, pc.SimulationError, "radii[1] -0.3"),
        ({"radii": [np.nan, 0.0]}, pc.SimulationError, "radii[0] nan"),
        ({"radii": 0.1}, pc.ShapeError, "radii () (2,)"),
        ({"names": ("block",)}, pc.ShapeError, "1 2 names"),
        ({"names": "ab"}, pc.ArgumentTypeError, "names 'ab'"),
        ({"names": (1, 2)}, pc.ArgumentTypeError, "names"),
    ],
)
def test_points_made_by_hand(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    right: dict[str, Any] = {"joints": [1, 1], "places": np.zeros((2, 3)), "radii": np.zeros(2)}
    assert len(pc.ContactPoints(**right)) == 2
    with raises(error, says):
        pc.ContactPoints(**(right | changes))


def test_points_made_by_hand_are_copies() -> None:
    joints, places, radii = np.array([1]), np.zeros((1, 3)), np.zeros(1)
    points = pc.ContactPoints(joints, places, radii, ["block"])
    joints[0], places[0, 2], radii[0] = 0, np.nan, -1.0
    assert (points.joints.tolist(), points.places.tolist(), points.radii.tolist()) == ([1], [[0.0, 0.0, 0.0]], [0.0])
    assert points.names == ("block",)
    model = grounds.block()
    with raises(pc.SimulationError, "simulate pc.contact_points(model,"):  # an id beyond the joints of the model
        run("block", touching=pc.ContactPoints([7], np.zeros((1, 3)), [0.0]), q0=pc.neutral(model), v0=np.zeros(6))
