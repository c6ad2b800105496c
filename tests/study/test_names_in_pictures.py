"""Names that Matplotlib would read as mathematics, or leave out of legends, in all pictures that have users' names."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters.studies import audit, study
from pin_clusters.studies.audit.page import page
from pin_clusters.studies.study import paper, plots
from pin_clusters.studies.sweeps import figures, ratio

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
SINE = study.Sine(amplitude=0.1, duration=0.2, dt=0.01)


@cache
def evil(robot: str) -> pc.ClusterModel:
    """The robot, whose joints and name are ``_$\\name$``."""
    model = pc.load(robot)
    text = pc.to_urdf(model)
    for name in sorted({*list(model.names)[1:], model.name}, key=len, reverse=True):
        text = re.sub(rf"(?<=[\"'\s]){re.escape(name)}(?=[\"'\s])", rf"_$\\\\{name}$", text)
    return pc.buildModelFromXML(text)


def joints(model: pc.ClusterModel) -> list[str]:
    return list(model.independent_joints)


def pictures(page: str) -> str:
    """The text of the pictures of a page, letter by letter."""
    return html.unescape(" ".join(re.findall(r"<text[^>]*>(.*?)</text>", page, re.DOTALL)))


@pytest.mark.parametrize("robot", ["mit_humanoid_leg", "four_bar"])
def test_audit(robot: str) -> None:
    model = evil(robot)
    shown = pictures(page(audit.run(model, duration=0.7, dt=5e-3, frames=())))
    for name in joints(model):
        assert shown.count(name) >= 2, name  # in a row and over its torques, or in a legend


def test_mechanism(tmp_path: Path) -> None:
    model = evil("four_bar")
    shown = pictures(Path(pc.mechanism(model).write(tmp_path)[0]).read_text(encoding="utf-8"))
    for name in list(model.names)[1:]:
        assert shown.count(name) >= 3, name


@pytest.mark.ci
def test_study_and_its_experiments(tmp_path: Path) -> None:
    for robot in ("mit_humanoid_leg", "four_bar"):
        plots.save(study.run(evil(robot), SINE), tmp_path / "study.png")
    model = evil("mit_humanoid_leg")
    short = {"duration": 0.2, "dt": 0.01}
    for name, options in (
        ("torque-sinusoids", {"frequencies": (1.0, 2.0), **short}),
        ("end-effector-tracking", short),
        ("torque-magnitude", {"samples": 20}),
    ):
        paper.run(name, model, **options).save_plot(tmp_path / f"{name}.png")
    figures.ratio(ratio.run(model, (1.0, 2.0), workers=1, **short), tmp_path / "ratio.png")
    assert len(list(tmp_path.iterdir())) == 5


def test_simulation(tmp_path: Path) -> None:
    model = evil("mit_humanoid_leg")
    figure = pc.simulate(model, pc.neutral(model), np.zeros(model.nv), None, 0.02, 1e-3).plot(tmp_path / "x.png")
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert [text.lstrip("\N{ZERO WIDTH SPACE}").replace(r"\$", "$") for text in legend] == joints(model)
