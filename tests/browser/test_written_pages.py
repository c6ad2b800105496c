"""The pages of audit and mechanism in a real browser: Chromium, without a window. Skipped where there is none."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import pool

import pin_clusters as pc
import pin_clusters.files.readers.library as library
from pin_clusters.studies import audit
from pin_clusters.studies.atlas.compared import Examined
from pin_clusters.studies.atlas.entries import PUBLISHED, Entry, Judged
from pin_clusters.studies.atlas.page import index
from pin_clusters.studies.atlas.result import AtlasResult
from pin_clusters.studies.audit.walk import Landing, Walked

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[test]'")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("PIN_CLUSTERS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-component-update"]

OUTSIDE = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map(e => e.textContent);
})"""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason=f"needs a browser: one of {', '.join(NAMES)} in PATH, or PIN_CLUSTERS_CHROMIUM"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


LONG = "_of_the_left_leg_of_a_robot_with_belts"
"""Names of more than 25 characters were cut."""


def renamed(name: str, joints: tuple[str, ...]) -> pc.ClusterModel:
    """A robot of the package whose joints have long names."""
    text = library.folders()[name].joinpath("model.urdf").read_text(encoding="utf-8")
    for joint in joints:
        text = re.sub(rf'"{joint}"', f'"{joint}{LONG}"', text)
    return pc.buildModelFromXML(text)


@pytest.fixture(scope="module", params=pool.some(["mechanism", "audit", "mechanism of an ankle"], 1, rest="ci"))
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    if request.param == "audit":
        leg = renamed("mit_humanoid_leg", ("hip_rz", "knee", "ankle"))
        return audit.write(audit.run(leg, duration=0.7, dt=5e-3), folder)[0]
    ankle = request.param != "mechanism"
    model = pc.load("ankle_2rsu") if ankle else renamed("four_bar", ("crank", "coupler", "rocker"))
    return pc.mechanism(model).write(folder)[0]


@pytest.mark.parametrize("theme", pool.some(["light", "dark"], 1, rest="ci"))
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_is_silent(browser: Any, page: Path, width: int, theme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=theme, java_script_enabled=True
    )
    tab, said, asked = context.new_page(), [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    assert said == []
    assert asked == [page.as_uri()]  # nothing but itself
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    # wide tables scroll in their own frame
    frames = tab.evaluate("[...document.querySelectorAll('.scroll')].map(e => e.getBoundingClientRect().width)")
    assert frames
    assert max(frames) <= width
    # and words of pictures are inside them
    outside = tab.evaluate(OUTSIDE)
    assert outside == []
    # words are read on what is behind them, in pictures too
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    inks = set(tab.evaluate("[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)"))
    dark = [sum(map(int, ink[4:-1].split(","))) < 384 for ink in inks]
    assert all(dark) if theme == "light" else not any(dark)
    assert (paper == "rgb(255, 255, 255)") == (theme == "light")
    context.close()


def landed() -> Walked:
    """Touch-downs of a robot with joints named as those of Booster's T1."""
    every, sides = ("exact", "diagonal", "block"), ("Left", "Right")
    most, time = dict.fromkeys(every, 104.3), np.arange(0.0, 0.2, 1e-3)
    landings = tuple(
        Landing(
            f"{s}_Ankle_Roll", dict.fromkeys(every, 0.1), most, f"{s}_Shoulder_Pitch", most, f"{s}_Knee_Pitch", most
        )
        for s in sides
    )
    bodies, pushed = tuple(x.body for x in landings), dict.fromkeys(every, np.outer(time, [1.0, 1.0]))
    return Walked("drop", landings, every[1:], 1e-3, 0.0, 0.0, 300.0, 0.8, time, bodies, pushed)


def robots() -> AtlasResult:
    """A row with large numbers, as of robots of the atlas."""
    errors = {motion: {"AAHead_yaw": 104.473} for motion in ("sine", "chirp", "gait")}
    sets = [
        Judged(name, "a/b", 0.15, 5.64, errors, {"foot": 104.4}, {"foot": 104.4})
        for name in ("none", "right armature", "block armature", PUBLISHED)
    ]
    entry = Entry("booster_t1", "Booster T1", "known", judged=tuple(sets))
    return AtlasResult((Examined(replace(entry, verdict=entry.said()), "", {}),), 1.0)


@pytest.mark.parametrize("kind", ["audit", "atlas"])
def test_no_table_is_cut_on_a_desktop(browser: Any, kind: str, tmp_path: Path) -> None:
    if kind == "audit":
        result = audit.run(pc.load("mit_humanoid_leg"), duration=0.7, dt=5e-3, frames=())
        page = audit.write(replace(result, walk=landed()), tmp_path)[0]
    else:
        page = tmp_path / "index.html"
        found = robots()
        pictures = {x.entry.name: x.picture for x in found.examined}
        page.write_text(index(found.entries, pictures), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1200, "height": 800})
    tab.goto(page.as_uri())
    said = "[...document.querySelectorAll('.scroll')].map(e => [e.ariaLabel, e.scrollWidth - e.clientWidth])"
    widths = tab.evaluate(said)
    assert len(widths) > (kind == "audit")
    assert [label for label, more in widths if more > 0] == []
