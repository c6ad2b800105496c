"""From file to ClusterModel."""

from __future__ import annotations

from pathlib import Path

import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.urdf_text import LEG, LEG_PARTS, coupling, joint, link, robot

from pin_clusters.constraints import Gear
from pin_clusters.errors import ConstraintError, PinClustersWarning, UnknownNameError
from pin_clusters.files.readers import buildModelFromUrdf, buildModelFromXML, expand_mimic
from pin_clusters.model import ClusterModel


def test_file_and_text_give_the_same_model(tmp_path):
    file = tmp_path / "robot with spaces.urdf"
    file.write_text(LEG)
    for model in (buildModelFromUrdf(file), buildModelFromUrdf(str(file)), buildModelFromXML(LEG)):
        assert isinstance(model, ClusterModel)
        assert model.name == "test_robot"
        assert model.independent_joints == ("hip", "knee", "ankle")
        assert model.dependent_joints == ("ankle_rotor", "knee_rotor")
    assert buildModelFromUrdf(file, pin.JointModelFreeFlyer()).nv == 9


def test_constraints_are_added_to_those_of_the_file():
    text = robot(*LEG_PARTS, coupling("shank", "knee_rotor_link", "12"))
    model = buildModelFromXML(text, constraints=[Gear("ankle", "ankle_rotor", 3.0)])
    assert [type(c).__name__ for c in model.constraints] == ["Belt", "Gear"]
    assert model.nv == 3


def test_errors_of_given_constraints_are_theirs():
    with raises(UnknownNameError, "'ankle_motor'"):
        buildModelFromXML(LEG, constraints=[Gear("ankle", "ankle_motor", 3.0)])
    with pytest.raises(ConstraintError):
        buildModelFromXML(LEG, constraints=[Gear("ankle", "ankle_rotor", 3.0)])


def test_warnings_point_to_the_caller(tmp_path):
    text = robot(
        *LEG_PARTS, "<gazebo/>", coupling("shank", "knee_rotor_link"), coupling("foot", "ankle_rotor_link", name="b")
    )
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    for build, source in ((buildModelFromXML, text), (buildModelFromUrdf, file)):
        with warns(PinClustersWarning, "<gazebo>") as said:
            build(source)
        assert Path(said[0].filename) == Path(__file__)


def test_mimic_both_ways():
    text = robot(
        link("ground", ""), link("a"), link("b"), joint("ja", "ground", "a"),
        joint("jb", "a", "b", inside='<mimic joint="ja" multiplier="-2" offset="0.3"/>'),
    )  # fmt: skip
    read = buildModelFromXML(text)
    expanded = ClusterModel(*expand_mimic(pin.buildModelFromXML(text, mimic=True)))
    for model in (read, expanded):
        assert (model.nq, model.nv) == (2, 1)
        assert model.dependent_joints == ("jb",)
