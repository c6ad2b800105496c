"""Make the screenshots of the docs with a real browser: ``python docs/screenshots/make.py [names]``.

Needs ``pip install '.[test]'`` and Chromium (in PATH, or in the environment variable PIN_CLUSTERS_CHROMIUM).
The images are kept beside this file, so that building the documentation needs neither.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, sync_playwright

import pin_clusters as pc
from pin_clusters.studies import motions, study
from pin_clusters.visualize import MeshcatVisualizer, animate, offline

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--ignore-gpu-blocklist", "--no-first-run", "--disable-background-networking"]  # fmt: skip
LEG_STEP, LEG_PART = 0.03, (380, 20, 780, 560)  # [s] between pictures, which are shown at half speed; [px]
HIDDEN = "body > *:not(#meshcat-pane) { visibility: hidden } canvas { visibility: visible }"
COLORS = 256  # of a palette, which keeps the files small
GALLERY = ("ankle_2rsu", "cassie_leg", "delta", "planar_leg_linkage", "watt_six_bar", "six_bar", "teleop_arm",
           "mit_humanoid_leg", "belt_chain", "jvrc1", "four_bar_change_point", "geared_chain")  # fmt: skip


def still(model: pc.ClusterModel, q: np.ndarray) -> MeshcatVisualizer:
    """Return a viewer with one configuration that fills the picture."""
    viewer = MeshcatVisualizer(model)
    viewer.initViewer(viewer=offline(), loadModel=True)
    viewer.frame(viewer.figure.cloud(q))
    viewer.display(q)
    return viewer


def mini_cheetah() -> MeshcatVisualizer:
    """In the middle of a trot."""
    model = pc.load("mini_cheetah")
    time, q, _, _ = study.motion("mini_cheetah_trot").states(model)
    return still(model, q[len(time) // 3])


def mit_humanoid() -> MeshcatVisualizer:
    """In the middle of a step."""
    model = pc.load("mit_humanoid")
    time, q, _, _ = study.motion("mit_humanoid_walk").states(model)
    return still(model, q[len(time) // 2])


def tello() -> MeshcatVisualizer:
    """Hip and knee differentials, away from the reference pose."""
    model = pc.load("tello")
    v = np.zeros(model.nv)
    for joint, angle in (("left_hip_rotor_1", 2.0), ("left_hip_rotor_2", 2.6), ("right_hip_rotor_1", -1.0)):
        v[model.joint_idx_v(joint)] = angle
    v[model.joint_idx_v("left_knee_ankle_rotor_1")] = 1.5
    return still(model, pc.integrate(model, model.q_reference, v))


def four_bar() -> MeshcatVisualizer:
    """With a motor on its crank, and the force in the pin that closes the loop."""
    bare = pc.load("four_bar")
    model = pc.ClusterModel(
        bare.tree, [*bare.constraints, pc.Rotor("crank", 6.0, axial_inertia=2e-5)], bare.q_reference, name="four_bar"
    )
    q = pc.integrate(model, model.q_reference, np.array([0.5]))
    viewer = still(model, q)
    arrows = viewer.displayForces(q, np.array([4.0]), np.zeros(model.tree.nv))
    tips = [a.point + viewer.force_scale(arrows) * a.force for a in arrows]
    viewer.frame(np.vstack([viewer.figure.cloud(q), *tips]))
    return viewer


def loop_open() -> MeshcatVisualizer:
    """What an open loop looks like."""
    model = pc.load("four_bar")
    q = model.q_reference + np.array([0.1, 0.0, 0.35])
    return still(model, q)


def ghost() -> tuple[MeshcatVisualizer, float]:
    """The leg of the humanoid and diagonal armature, under the same torques."""
    model = pc.load("mit_humanoid_leg")
    shown = motions.sweep(model, 2.0, 0.5)
    other = motions.ghost(model, shown, "diagonal")
    return animate(model, shown.time, shown.q, ghost=(other.time, other.q), ghost_label="diagonal armature"), 1.15


def ghost_walk() -> tuple[MeshcatVisualizer, float]:
    """The humanoid in the middle of a step, and what the same torques do to it without armature."""
    model = pc.load("mit_humanoid")
    shown = motions.recorded(model, "mit_humanoid_walk", 0.6)
    other = motions.ghost(model, shown, "none")
    return animate(model, shown.time, shown.q, ghost=(other.time, other.q), ghost_label="no armature"), 0.5


def go2() -> tuple[MeshcatVisualizer, float]:
    """The robot of the tutorial in the middle of its trot."""
    found: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (HERE.parent / "tutorial.md").read_text(encoding="utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec("".join(blocks).replace('"examples/', f'"{HERE.parents[1]}/examples/'), found)
    return found["viewer"], 1.06


PICTURES: dict[str, Callable[[], MeshcatVisualizer | tuple[MeshcatVisualizer, float]]] = {
    "mini_cheetah": mini_cheetah,
    "mit_humanoid": mit_humanoid,
    "tello": tello,
    "four_bar": four_bar,
    "loop_open": loop_open,
    "go2": go2,
    "ghost": ghost,
    "ghost_walk": ghost_walk,
}


def photograph(page: Page, viewer: MeshcatVisualizer, time: float | None, path: Path, legend: bool = True) -> None:
    """Write a picture of a page, at a time of its animation."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        viewer.save(file)
        page.goto(file.as_uri())
        page.wait_for_function("window.viewer !== undefined")
        page.evaluate("viewer.gui.domElement.style.display = 'none'")
        if not legend:
            page.evaluate("document.getElementById('legend').remove(); viewer.camera.view = null;")
        if time is not None:
            page.evaluate("t => { viewer.animator.pause(); viewer.animator.seek(t); "
                          "viewer.animator.display_progress(t); }", time)  # fmt: skip
        page.evaluate("viewer.set_dirty()")
        page.wait_for_timeout(500)
        page.screenshot(path=path)


def shrink(path: Path) -> None:
    """Give a picture a palette."""
    Image.open(path).convert("RGB").quantize(COLORS, kmeans=4, dither=Image.Dither.NONE).save(path, optimize=True)


def gallery(page: Page) -> None:
    """Write one picture of many robots."""
    wide, high, across = 400, 320, 4
    sheet = Image.new("RGB", (wide * across, high * -(-len(GALLERY) // across)), "white")
    font = ImageFont.load_default(15)
    for i, name in enumerate(GALLERY):
        model = pc.load(name)
        path = HERE / f"_{name}.png"
        v = np.zeros(model.nv)
        if name.endswith(("chain", "arm")):  # straight in the reference pose
            v[:] = 0.4 * np.cos(np.arange(model.nv))
        photograph(page, still(model, pc.integrate(model, model.q_reference, v)), None, path, legend=False)
        tile = Image.open(path).convert("RGB").resize((wide, high), Image.Resampling.LANCZOS)
        ImageDraw.Draw(tile).text((10, 8), name, fill="#1d2229", font=font)
        sheet.paste(tile, ((i % across) * wide, (i // across) * high))
        path.unlink()
    sheet.save(HERE / "gallery.png")
    shrink(HERE / "gallery.png")


def leg(page: Page) -> None:
    """Write the animation of the README: the page of example 10, moved from picture to picture."""
    example = runpy.run_path(str(HERE.parents[1] / "examples" / "10_simulate_and_see.py"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        example["main"]()
        page.goto(Path("leg.html").resolve().as_uri())
        page.wait_for_function("window.viewer !== undefined")
        page.evaluate("viewer.gui.domElement.style.display = 'none'")
        page.add_style_tag(content=HIDDEN)
        pictures = []
        for time in np.arange(0.0, 1.0, LEG_STEP):
            page.evaluate("t => { viewer.animator.pause(); viewer.animator.seek(t); }", float(time))
            page.wait_for_timeout(700)
            whole = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            pictures.append(whole.crop(LEG_PART).quantize(64, dither=Image.Dither.NONE))
    first, *others = pictures
    first.save(
        HERE / "leg.gif", save_all=True, append_images=others, duration=round(2e3 * LEG_STEP), loop=0, optimize=True
    )


SEQUENCES = {"gallery": gallery, "leg": leg}
"""Files that need more than one picture."""


def main(names: list[str]) -> None:
    """Write pictures; all of them without names."""
    executable = os.environ.get("PIN_CLUSTERS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for name in names or PICTURES:
            if name not in SEQUENCES:
                made = PICTURES[name]()
                viewer, time = made if isinstance(made, tuple) else (made, None)
                page = browser.new_page(viewport={"width": 960, "height": 640})
                photograph(page, viewer, time, HERE / f"{name}.png")
                shrink(HERE / f"{name}.png")
                page.close()
        for name, write in SEQUENCES.items():
            if not names or name in names:
                page = browser.new_page(viewport={"width": 800, "height": 640})
                write(page)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
