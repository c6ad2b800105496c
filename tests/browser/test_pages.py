"""Pages in a real browser: Chromium, without a window. Skipped where there is none."""

import functools
import os
import shutil
import time as clock
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters import visualize

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[test]'")

NAMES = ("chromium", "chromium-browser", "google-chrome")
# WebGL by software, nothing that calls home
FLAGS = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
# poses in the page are of double precision where they were sent, of single where they come from an animation
SENT, PLAYED = 1e-9, 1e-5
# [s] after which a page has failed; software draws slowly on a busy machine
WAIT = 120.0


def chromium():
    return os.environ.get("PIN_CLUSTERS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


pytestmark = pytest.mark.skipif(
    chromium() is None, reason=f"needs a browser: one of {', '.join(NAMES)} in PATH, or PIN_CLUSTERS_CHROMIUM"
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield found
        found.close()


class Opened:
    """A page, and what it said and asked for."""

    def __init__(self, browser, url):
        self.page = browser.new_page(viewport={"width": 640, "height": 480})
        self.page.set_default_timeout(1000.0 * WAIT)
        self.said, self.asked = [], []
        self.page.on("console", lambda m: self.said.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.goto(url)
        self.page.wait_for_function("window.viewer !== undefined")

    def evaluate(self, code, argument=None):
        return self.page.evaluate(code, argument)

    def pose(self, path):
        """Return the pose of a node in the world (z upwards), from three.js itself."""
        columns = self.evaluate(
            """path => { viewer.scene.updateMatrixWorld(true);
            return viewer.scene_tree.find(path.split("/")).object.matrixWorld.elements; }""",
            f"meshcat/{path}",
        )
        upright = pin.exp3(np.array([np.pi / 2, 0.0, 0.0]))  # the scene lies on its back: y is up in three.js
        found = np.reshape(columns, (4, 4)).T
        found[:3] = upright @ found[:3]
        return found

    def seek(self, time):
        self.evaluate("time => { viewer.animator.pause(); viewer.animator.seek(time); }", time)

    def shades(self):
        """Return how many different colours there are on the canvas, and the share of the most frequent one."""
        return self.evaluate("""() => {
            viewer.render();
            const canvas = document.createElement("canvas"), from = viewer.renderer.domElement;
            canvas.width = from.width; canvas.height = from.height;
            const context = canvas.getContext("2d"); context.drawImage(from, 0, 0);
            const data = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            const count = new Map(); let most = 0;
            for (const x of data) { const n = (count.get(x) || 0) + 1; count.set(x, n); most = Math.max(most, n); }
            return [count.size, most / data.length];
        }""")


@pytest.fixture
def show(browser, tmp_path):
    opened = []

    def load(viz):
        path = Path(tmp_path, "page.html")
        viz.save(path)
        opened.append(Opened(browser, path.as_uri()))
        return opened[-1]

    yield load
    for found in opened:
        assert found.said == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in found.asked), found.asked
        found.page.close()


def offline(model):
    viz = visualize.MeshcatVisualizer(model)
    viz.initViewer(viewer=visualize.offline(), loadModel=True)
    return viz


@functools.cache
def leg_motion(turns=0.6, n=121):
    """Return the leg of the humanoid, times, and configurations in which every joint goes there and back."""
    model = pc.load("mit_humanoid_leg")
    time = np.linspace(0.0, 1.2, n)
    q, done = [model.q_reference], 0.0
    for x in turns * np.sin(np.pi * time[1:] / 1.2):
        q.append(pc.integrate(model, q[-1], np.full(model.nv, x - done)))
        done = x
    return model, time, np.array(q)


@pytest.mark.parametrize("name", ["tello", pytest.param("delta", marks=pytest.mark.long)])
def test_the_page_loads_and_is_not_blank(show, name):
    model = pc.load(name)
    page = show(offline(model))
    colors, background = page.shades()
    assert colors > 300  # a shaded scene; a blank one with its sky has some 250 rows of one colour each
    assert background < 0.5
    legend = page.page.text_content("#legend")
    assert name in legend
    assert "closed" in legend
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, model.q_reference)
    joint = model.independent_joints[-1] if name == "delta" else "left_knee"
    found = page.pose(f"pinocchio/joints/{joint}")
    np.testing.assert_allclose(found, data.oMi[model.tree.getJointId(joint)].homogeneous, atol=SENT)


@pytest.mark.ci
def test_a_rotor_turns_at_its_ratio_between_two_frames(show):
    model, time, q = leg_motion()
    page = show(visualize.animate(model, time, q))
    before, after = 12, 20  # samples that are 80 ms apart
    for r, axis in ((model.rotors[0], [0.0, 1.0, 0.0]), (model.rotors[-1], [0.0, 0.0, 1.0])):
        found = []
        for k in (before, after):
            page.seek(time[k])
            # key frames are samples, but not all samples are key frames of the rotor: in between it turns evenly
            outer, inner = page.pose(f"pinocchio/rotors/{r.name}"), page.pose(f"pinocchio/rotors/{r.name}/spin")
            found.append(outer[:3, :3].T @ inner[:3, :3])
        turned = found[0].T @ found[1]
        angle = sum(ratio * (q[after, iv] - q[before, iv]) for iv, ratio in r.drivers)
        assert abs(angle) > 0.3
        # even turning between key frames 33 ms apart: less than 1% of what it turned
        assert np.abs(pin.log3(turned @ pin.exp3(angle * np.array(axis)).T)).max() < 0.01 * abs(angle)


@pytest.mark.ci
def test_the_animation_plays_and_can_be_stopped(show):
    model, time, q = leg_motion()
    page = show(visualize.animate(model, time, q))
    first, start = page.pose("pinocchio/links/knee"), page.evaluate("viewer.animator.time")
    page.page.wait_for_function("start => Math.abs(viewer.animator.time - start) > 0.1", arg=start)
    assert np.abs(page.pose("pinocchio/links/knee") - first).max() > 1e-3
    assert page.evaluate("viewer.animator.duration") == pytest.approx(time[-1], abs=PLAYED)
    page.page.click("#player button")
    page.page.wait_for_function("document.querySelector('#player button').textContent === 'Play'")
    stopped = page.pose("pinocchio/links/knee")
    page.page.wait_for_timeout(150)
    np.testing.assert_array_equal(page.pose("pinocchio/links/knee"), stopped)
    # it begins anew at its end, again and again
    page.evaluate("viewer.animator.seek(1.1); viewer.animator.play()")
    page.page.wait_for_function("viewer.animator.time < 1.0")
    assert page.evaluate("viewer.animator.playing")


@pytest.mark.ci
def test_lengths_and_colours_change_in_an_animation(show):
    model = pc.load("four_bar")
    time = np.linspace(0.0, 1.0, 31)
    q = np.tile(model.q_reference, (31, 1))
    q[:, 1] += 0.2 * time  # the loop opens
    page = show(visualize.animate(model, time, q, v=np.zeros((31, 1))))
    c = model.closures[0]
    gap = f"pinocchio/closures/0_{c.source.label}/gap"
    data = model.tree.createData()
    colors = []
    for k in (0, 15, 30):
        page.seek(time[k])
        pin.forwardKinematics(model.tree, data, q[k])
        a = data.oMi[c.joint_a].act(c.placement_a.translation)
        b = data.oMi[c.joint_b].act(c.placement_b.translation)
        found = page.pose(gap)
        np.testing.assert_allclose(found[:3, 3], a, atol=PLAYED)
        np.testing.assert_allclose(found[:3, 2], b - a, atol=PLAYED)  # z from 0 to 1, stretched
        colors.append(page.evaluate(
            "path => viewer.scene_tree.find(path.split('/')).object.material.color.toArray()",
            f"meshcat/{gap}/<object>",
        ))  # fmt: skip
    np.testing.assert_allclose(colors[0], visualize.palette.rgb(visualize.palette.CLOSED), atol=1e-6)
    np.testing.assert_allclose(colors[2], visualize.palette.rgb(visualize.palette.OPEN), atol=1e-6)


@pytest.mark.ci
def test_a_narrow_screen_shows_the_robot_first(browser, tmp_path):
    path = Path(tmp_path, "page.html")
    offline(pc.load("four_bar")).save(path)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_function("window.viewer !== undefined")
    assert page.evaluate("document.getElementById('legend').open") is False
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.ci
def test_a_live_server_follows_display(browser, capsys):
    model, _, q = leg_motion()
    with visualize.MeshcatVisualizer(model) as viz:
        viz.initViewer(loadModel=True)
        opened = Opened(browser, viz.viewer.url())
        data = model.tree.createData()
        for k in (5, 40):
            viz.display(q[k])
            pin.forwardKinematics(model.tree, data, q[k])
            expected = data.oMi[model.rotors[0].joint_id].homogeneous
            name = f"pinocchio/rotors/{model.rotors[0].name}/spin"
            last = clock.monotonic() + WAIT
            while np.abs(opened.pose(name) - expected).max() > SENT and clock.monotonic() < last:
                opened.page.wait_for_timeout(50)
            np.testing.assert_allclose(opened.pose(name), expected, atol=SENT)
        colors, background = opened.shades()
        assert colors > 300
        assert background < 0.5
        assert [x for x in opened.said if "favicon" not in x and "404" not in x] == []
        opened.page.close()


@pytest.mark.ci
@pytest.mark.parametrize("size", [1e-3, 100.0])
def test_robots_of_any_size_are_seen_above_the_bar_of_the_player(show, size):
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "arm")
    centre = pin.SE3(np.eye(3), np.array([0.0, 0.0, size / 2]))
    tree.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, size / 5, size / 5, size), centre)
    q = np.linspace(0.0, 3.0, 31)[:, None]
    page = show(visualize.animate(pc.ClusterModel(tree), np.linspace(0.0, 1.0, 31), q))
    for angle, time in ((0.0, 0.0), (3.0, 1.0)):
        page.seek(time)
        x, y, depth = page.evaluate(
            """([y, z]) => { viewer.render(); const camera = viewer.camera; camera.updateMatrixWorld(true);
            const p = viewer.controls.target.clone().set(0, z, -y).project(camera); return [p.x, p.y, p.z]; }""",
            [-size * np.sin(angle), size * np.cos(angle)],
        )  # the tip, in the square from -1 to 1
        assert abs(x) < 1.0
        assert 1.0 - 2.0 * (480 - 56) / 480 < y < 1.0
        assert abs(depth) < 1.0  # neither too near nor too far to be drawn


DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="common"><phong><diffuse><color>1 0 0 1</color></diffuse>
</phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material><material id="n"><instance_effect url="#e"/>
</material></library_materials><library_geometries>{geometries}</library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
PART = """<geometry id="{id}"><mesh><source id="{id}p"><float_array id="{id}a" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#{id}a" count="3" stride="3"><param name="X" type="float"/><param name="Y"
type="float"/><param name="Z" type="float"/></accessor></technique_common></source><vertices id="{id}v"><input
semantic="POSITION" source="#{id}p"/></vertices>{triangles}</mesh></geometry>"""
TRIANGLE = """<triangles material="{material}" count="1"><input semantic="VERTEX" source="#{id}v" offset="0"/>
<p>0 1 2</p></triangles>"""
NODE = """<node id="n{id}"><instance_geometry url="#{id}"><bind_material><technique_common><instance_material
symbol="m" target="#m"/><instance_material symbol="n" target="#n"/></technique_common></bind_material>
</instance_geometry></node>"""


@pytest.mark.ci
def test_meshes_with_several_materials_lose_no_part(show, tmp_path):
    file = tmp_path / "part.dae"
    parts = {"one": "mn", "two": "m"}
    geometries = "".join(
        PART.format(id=i, triangles="".join(TRIANGLE.format(id=i, material=x) for x in materials))
        for i, materials in parts.items()
    )
    file.write_text(DAE.format(geometries=geometries, nodes="".join(NODE.format(id=i) for i in parts)))
    model = pc.load("four_bar")
    visual = pin.GeometryModel()
    shape = pin.GeometryObject("part", 1, 0, pin.SE3.Identity(), pin.hppfcl.MeshLoader().load(str(file)))
    shape.meshPath = str(file)
    visual.addGeometryObject(shape)
    viz = visualize.MeshcatVisualizer(model, None, visual)
    viz.initViewer(viewer=visualize.offline(), loadModel=True)
    page = show(viz)
    drawn = page.evaluate("""() => { const found = []; viewer.scene.traverse((node) => {
        if (Array.isArray(node.material)) { found.push(node.material.map((m) => m.visible === true)); } });
        return found; }""")
    assert drawn == [[True, True]]
    assert all(line.startswith("log: THREE.ColladaLoader: File version") for line in page.said)
    page.said.clear()


@pytest.mark.ci
def test_a_drop_beside_its_ghost(show):
    """Ground, robot, force and ghost are where the simulation says, in the browser."""
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "block")
    tree.appendBodyToJoint(joint, pin.Inertia.FromBox(2.0, 0.4, 0.2, 0.1), pin.SE3.Identity())
    model, ground = pc.ClusterModel(tree, name="block"), pc.Ground(height=0.1)
    corners = {"block": [[x, y, -0.05] for x in (-0.2, 0.2) for y in (-0.1, 0.1)]}
    q = pc.on_ground(model, pc.neutral(model), ground, corners, above=0.02)
    found = pc.simulate(model, q, np.zeros(6), None, 0.4, ground=ground, touching=corners)
    both = (found.time, found.q)
    viz = visualize.animate(model, *both, ghost=both, ground=ground, contacts=found, ghost_contacts=found)
    page = show(viz)
    colors, _ = page.shades()
    assert colors > 300
    assert 0.08 < page.pose("pinocchio/ground")[2, 3] < 0.1
    aside = page.pose("pinocchio_ghost")[:3, 3]
    lengths = []
    for k in (0, 200):
        page.seek(found.time[k])
        own, other = (page.pose(f"{root}/forces/ground:block") for root in ("pinocchio", "pinocchio_ghost"))
        np.testing.assert_allclose(other[:3, 3] - own[:3, 3], aside, atol=PLAYED)
        lengths.append(own[2, 2])
    assert lengths[0] < 1e-4 < 0.01 < lengths[1]
    np.testing.assert_allclose(own[:3, 3], [0.0, 0.0, 0.1], atol=1e-3)
    assert "ground forces" in page.page.text_content("#legend")
