"""``<dynamics damping= friction=>`` of a URDF acts, as in MJCF and SDF, and is written once."""

from __future__ import annotations

import numpy as np
import pytest
from samples.motors import URDF
from support.messages import raises, warns

import pin_clusters as pc

RUBBING = URDF.replace('damping="0"', 'damping="0.7" friction="0.3"')


def push(model: pc.ClusterModel) -> np.ndarray:
    return pc.passive_torque(model, model.createData(), pc.neutral(model), np.full(model.nv, 2.0))


def test_viscous_and_dry_friction_act() -> None:
    model = pc.buildModelFromXML(RUBBING)
    assert push(model) == pytest.approx([0.0, -0.7 * 2.0 - 0.3], rel=1e-12)
    assert pc.buildModelFromXML(URDF).passive is None
    assert push(pc.buildModelFromMJCF(pc.to_mjcf(model))) == pytest.approx(push(model), rel=1e-12)


def test_what_acts_is_written_once() -> None:
    model = pc.buildModelFromXML(RUBBING)
    text = pc.to_urdf(model)
    assert 'damping="0.7" friction="0.3"' in text
    assert "<spring" not in text
    assert pc.buildModelFromXML(text).constraints == model.constraints


@pytest.mark.parametrize("square", [0.0, 0.1])
def test_a_spring_that_also_rubs_comes_back(square: float) -> None:
    tree = pc.buildModelFromXML(RUBBING).tree
    sprung = pc.ClusterModel(tree, [pc.Spring("knee_joint", 5.0, 0.2, (0.7, square), 0.3)])
    again = pc.buildModelFromXML(pc.to_urdf(sprung))
    assert push(again) == pytest.approx(push(sprung), rel=1e-12)
    assert pc.to_urdf(again) == pc.to_urdf(sprung)
    mjcf = pc.to_mjcf(again)
    assert ("<fixed" in mjcf) is bool(square)  # one joint of MuJoCo says it all, but for two dampers
    assert push(pc.buildModelFromMJCF(mjcf)) == pytest.approx(push(sprung), rel=1e-12)


def test_friction_that_does_not_act_is_not_written_but_said() -> None:
    text = pc.to_urdf(pc.ClusterModel(pc.buildModelFromXML(RUBBING).tree))
    assert "without a pc.Spring, which have no effect, are lost: knee_joint." in text
    assert pc.buildModelFromXML(text).passive is None


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_where_it_cannot_act_that_is_said(kind: str) -> None:
    text = RUBBING.replace('name="knee_joint" type="revolute"', f'name="knee_joint" type="{kind}"')
    with warns(pc.PinClustersWarning, "'knee_joint'"):
        assert pc.buildModelFromXML(text.replace('armature="0.02"', "")).passive is None


def test_numbers_are_checked() -> None:
    with raises(pc.LoadError, "'knee_joint'"):
        pc.buildModelFromXML(RUBBING.replace('friction="0.3"', 'friction="-0.3"'))
    with raises(pc.LoadError, "'knee_joint' 'x'"):
        pc.buildModelFromXML(RUBBING.replace('damping="0.7"', 'damping="x"'))
