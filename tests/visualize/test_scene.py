"""The scene without a browser: names, poses, angles, colours, pages, bad input."""

import http.client
import inspect
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises
from support.scenes import load, swinging
from support.studies import ab_ankle

import pin_clusters as pc
from pin_clusters import approximations, visualize
from pin_clusters.visualize import palette
from pin_clusters.visualize.figure import Figure
from pin_clusters.visualize.scene import PinocchioViewer

# what the scene holds is what was sent, so only products of a few rotations separate it from kinematics
# rotors as links and without, belts, rods, differentials, a floating base; what has none of it
OFTEN = ("ankle_2rsu", "cassie_leg", "delta", "four_bar", "geared_chain", "jvrc1", "mit_humanoid_leg", "tello")
ROUNDING = 1e-12


def viewer(model, **options):
    viz = visualize.MeshcatVisualizer(model, **options)
    viz.initViewer(viewer=visualize.offline(), loadModel=True)
    return viz


def pose(viz, *paths):
    """Return the pose in the world of the last of nested nodes, as it was sent."""
    found = np.eye(4)
    for path in paths:
        found = found @ np.reshape(viz.viewer.window.transform(f"/meshcat/pinocchio/{path}"), (4, 4)).T
    return found


def pieces(viz, group):
    start = f"/meshcat/pinocchio/{group}/"
    return {p.removeprefix(start).split("/")[0] for p in viz.viewer.window.paths if p.startswith(start)}


@pytest.mark.parametrize("name", pool.some(pc.robots(), OFTEN))
def test_every_robot_is_drawn(name):
    model = load(name)
    viz = viewer(model)
    drawn = {kind: pieces(viz, kind) for kind in ("links", "joints", "rotors", "closures")}
    assert drawn["rotors"] == {r.name.replace("/", "|") for r in model.rotors}
    assert {c.split("_")[0] for c in drawn["closures"]} == {str(i) for i in range(len(model.closures))} or name in (
        "tello",  # equations between joints are drawn from their rotors
    )
    tree = model.tree
    for j in range(1, tree.njoints):
        if tree.inertias[j].mass > 0.0:  # no mass is invisible
            assert any(tree.names[j] in drawn[kind] for kind in ("links", "joints", "rotors")), tree.names[j]
    cloud = viz.figure.cloud(model.q_reference)
    assert np.isfinite(cloud).all()
    # the picture is about as large as the robot: nothing is drawn far away
    skeleton = viz.figure.skeleton
    assert np.linalg.norm(np.ptp(cloud, axis=0)) < 1.6 * skeleton.size + 2.0 * skeleton.unit


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "tello", "jvrc1_as_published", "delta"])
def test_poses_against_forward_kinematics(name):
    model = load(name)
    viz = viewer(model)
    pin.seed(3)
    q = pc.randomConfiguration(model)
    viz.display(q)
    data = model.tree.createData()
    pin.framesForwardKinematics(model.tree, data, q)
    for joint in pieces(viz, "joints") | pieces(viz, "links"):
        if joint in ("universe", "universe:walls") or ":" in joint:
            continue
        group = "links" if joint in pieces(viz, "links") else "joints"
        expected = data.oMi[model.tree.getJointId(joint)].homogeneous
        np.testing.assert_allclose(pose(viz, f"{group}/{joint}"), expected, atol=ROUNDING)
    for r in model.rotors:  # those that are bodies of the tree: Pinocchio's own pose, by another route than ratios
        if r.joint_id is not None:
            found = pose(viz, f"rotors/{r.name}", f"rotors/{r.name}/spin")
            np.testing.assert_allclose(found, data.oMi[r.joint_id].homogeneous, atol=ROUNDING)


def with_rotors(continuous=False):
    """Return an arm of two joints with rotors that are no bodies."""
    tree = pin.Model()
    kind = pin.JointModelRUBZ if continuous else pin.JointModelRZ
    for i, name in enumerate(("shoulder", "elbow")):
        j = tree.addJoint(i, kind(), pin.SE3(np.eye(3), np.array([0.5 * i, 0.0, 0.0])), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.25, 0.0, 0.0]), 0.02 * np.eye(3)), pin.SE3.Identity())
    turned = pin.SE3(pin.exp3(np.array([0.4, 0.0, 0.0])), np.array([0.1, 0.2, 0.3]))
    return pc.ClusterModel(
        tree,
        [
            pc.Rotor("shoulder", -7.5, axial_inertia=1e-4, name="first"),
            pc.Rotor(["shoulder", "elbow"], [2.0, 12.0], axial_inertia=1e-4, carrier="shoulder", name="second",
                     placement=turned, axis=(0.0, 0.0, 1.0)),
        ],
    )  # fmt: skip


def test_rotors_without_a_body_turn_at_their_ratio():
    model = with_rotors()
    viz = viewer(model)
    q0, q1 = np.array([0.1, -0.2]), np.array([0.25, 0.3])
    spins = []
    for q in (q0, q1):
        viz.display(q)
        spins.append([pose(viz, f"rotors/{name}/spin")[:3, :3] for name in ("first", "second")])
    dq = q1 - q0
    for before, after, axis, angle in zip(
        *spins, ([0.0, 0.0, 1.0],) * 2, (-7.5 * dq[0], 2.0 * dq[0] + 12.0 * dq[1]), strict=True
    ):
        np.testing.assert_allclose(before.T @ after, pin.exp3(angle * np.array(axis)), atol=ROUNDING)
    # its place: that of the carrier, and of the driven joint where none was given
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q1)
    np.testing.assert_allclose(pose(viz, "rotors/second"), (data.oMi[1] * model.rotors[1].placement).homogeneous,
                               atol=ROUNDING)  # fmt: skip
    np.testing.assert_allclose(pose(viz, "rotors/first")[:3, 3], np.zeros(3), atol=ROUNDING)


def test_rotors_of_continuous_joints_go_on_past_half_a_turn():
    model = with_rotors(continuous=True)
    figure = Figure(model)
    angles = []
    for x in np.linspace(0.0, 9.0, 40):
        q = np.array([np.cos(x), np.sin(x), np.cos(-x), np.sin(-x)])
        angles.append(figure.angles(q))
    np.testing.assert_allclose(angles[-1] - angles[0], [-7.5 * 9.0, 2.0 * 9.0 - 12.0 * 9.0], atol=1e-9)


def test_an_open_loop_shows_its_gap_and_its_colour():
    model = pc.load("four_bar")
    viz = viewer(model)
    closure = model.closures[0]
    gap = f"closures/0_{closure.source.label}/gap"

    def color():
        commands = viz.viewer.window.commands
        return next(c["value"][:3] for c in reversed(commands)
                    if c["type"] == "set_property" and c["path"].endswith(gap + "/<object>"))  # fmt: skip

    assert color() == pytest.approx(palette.rgb(palette.CLOSED).tolist())
    q = model.q_reference + np.array([0.0, 0.1, 0.0])
    viz.display(q)
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q)
    a = data.oMi[closure.joint_a].act(closure.placement_a.translation)
    b = data.oMi[closure.joint_b].act(closure.placement_b.translation)
    found = pose(viz, gap)
    assert np.linalg.norm(b - a) > 0.01
    np.testing.assert_allclose(found[:3, 3], a, atol=ROUNDING)
    np.testing.assert_allclose(found[:3, 2], b - a, atol=ROUNDING)  # z from 0 to 1, stretched
    assert color() == pytest.approx(palette.rgb(palette.OPEN).tolist())


def test_colours_of_residuals_go_one_way():
    shades = np.array([palette.of_residual(r) for r in (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1.0, np.nan)])
    towards = shades @ (palette.rgb(palette.OPEN) - palette.rgb(palette.CLOSED))
    assert (np.diff(towards) >= -1e-15).all()
    np.testing.assert_array_equal(shades[0], palette.rgb(palette.CLOSED))
    np.testing.assert_array_equal(shades[-1], palette.rgb(palette.OPEN))


def test_belts_keep_to_their_joints():
    model = pc.load("mit_humanoid_leg")
    viz = viewer(model)
    bands = {p for p in viz.viewer.window.paths if "/belts/Belt('ankle', 'ankle_rotor')/" in p}
    assert len(bands) == 2  # rotor to knee on the thigh, knee to ankle on the shank
    data = model.tree.createData()
    pin.seed(1)
    q = pc.randomConfiguration(model)
    viz.display(q)
    pin.forwardKinematics(model.tree, data, q)
    for path, body in zip(sorted(bands), ("hip_ry", "knee"), strict=True):
        found = np.reshape(viz.viewer.window.transform(path), (4, 4)).T
        np.testing.assert_allclose(found, data.oMi[model.tree.getJointId(body)].homogeneous, atol=ROUNDING)


def test_a_rotor_whose_place_nobody_knows_has_no_belt():
    tree = pin.buildSampleModelManipulator()
    named = {"carrier": "universe", "axis": (0.0, 1.0, 0.0)}
    place = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    for placement, belts in ((None, set()), (place, {"rotor:elbow_joint"})):
        model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 9.0, axial_inertia=1e-4, placement=placement, **named)])
        viz = viewer(model)
        assert pieces(viz, "belts") == belts
        assert pieces(viz, "rotors") == {"rotor:elbow_joint"}
        # nor does a file invent a place
        again = pc.buildModelFromXML(pc.to_urdf(model))
        assert (again.rotors[0].source.placement is None) is (placement is None)


def test_rods_of_an_ankle_in_closed_form_are_drawn_between_their_ends():
    model = ab_ankle()
    viz = viewer(model)
    q = pc.integrate(model, pc.neutral(model), [0.3, -0.2])
    viz.display(q)
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q)
    (name,) = {p for p in pieces(viz, "closures") if p.startswith("0_")}
    for k, (crank, y) in enumerate((("left", 0.025), ("right", -0.025))):
        n = k or ""
        ends = (crank, [-0.05, 0.0, 0.0]), ("roll", [-0.05, y, 0.0])
        a, b = (data.oMi[model.tree.getJointId(joint)].act(np.array(p)) for joint, p in ends)
        rod = pose(viz, f"closures/{name}/rod{n}")
        assert rod[:3, 3] == pytest.approx(a, abs=1e-9)
        assert rod[:3, 2] == pytest.approx(b - a, abs=1e-9)  # as long as it is


def test_forces_are_arrows_where_they_act():
    model = pc.load("four_bar")
    viz = viewer(model)
    data = model.createData()
    q, v, tau = pc.integrate(model, model.q_reference, [0.4]), np.array([0.3]), np.array([0.5, 0.0, 0.0])
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    fext[2] = pin.Force(np.array([1.0, 0.0, 2.0]), np.zeros(3))
    found = {a.name: a for a in viz.displayForces(q, v, tau, fext, scale=0.01)}
    forces = pc.constraint_forces(model, data, q, v, tau, fext)
    closure, wrench = model.closures[0], forces.loops[0].wrench
    R = data.tree.oMi[closure.joint_a].rotation @ closure.placement_a.rotation
    loop = next(a for name, a in found.items() if name.startswith("0_"))
    np.testing.assert_allclose(loop.force, R @ wrench[:3], atol=1e-12)
    shown = pose(viz, f"forces/{loop.name}")
    np.testing.assert_allclose(shown[:3, 2], 0.01 * loop.force, atol=1e-14)
    outer = found["external:coupler"]
    np.testing.assert_allclose(outer.force, data.tree.oMi[2].rotation @ [1.0, 0.0, 2.0], atol=1e-14)
    viz.drawArrow("contact", [0.0, 0.0, 0.0], [0.0, 0.0, 50.0])
    np.testing.assert_allclose(pose(viz, "forces/contact")[:3, 2], [0.0, 0.0, 0.5], atol=1e-14)
    assert {text for _, text in viz.legend().entries} >= {"constraint forces", "external forces"}
    rod = viewer(pc.load("delta"))
    model = rod.cluster_model
    both = [a for a in rod.displayForces(model.q_reference, np.zeros(3), np.zeros(6)) if a.name.startswith("0_")]
    assert [a.name[-2:] for a in both] == [":a", ":b"]


def test_users_meshes_take_the_place_of_links():
    model = pc.load("mit_humanoid_leg")
    visual = pin.GeometryModel()
    coal = pytest.importorskip("coal")
    visual.addGeometryObject(pin.GeometryObject("box", 3, pin.SE3.Identity(), coal.Box(0.1, 0.1, 0.1)))
    viz = visualize.MeshcatVisualizer(model, None, visual)
    viz.initViewer(viewer=visualize.offline())
    viz.loadViewerModel("leg")
    paths = set(viz.viewer.window.paths)
    assert "/meshcat/leg/visuals/box" in paths
    assert not any(p.startswith("/meshcat/leg/links") for p in paths)
    assert any(p.startswith("/meshcat/leg/rotors") for p in paths)
    viz.displayFrames(True)
    viz.display(model.q_reference)
    viz.displayGroup("rotors", False)
    viz.play([model.q_reference] * 2, 1e-4)
    viz.displayFrames(False)
    # it moves in an animation too, and the picture holds it
    time, q = swinging(model, n=31)
    viz.animate(time, q)
    clips = {a["path"]: a["clip"]["tracks"] for a in viz.viewer.window.commands[-1]["animations"]}
    assert {t["name"] for t in clips["/meshcat/leg/visuals/box"]} == {".position", ".quaternion"}
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q[0])
    corner = data.oMi[3].act(np.full(3, 0.05))
    assert np.abs(viz.cloud(q[0]) - corner).max(axis=1).min() < 1e-12
    viz.clean()
    assert not [p for p in viz.viewer.window.paths if p.startswith("/meshcat")]


def test_pages_need_no_network_and_escape_names():
    tree = with_rotors().tree
    model = pc.ClusterModel(tree, name="</script><b>arm</b>")
    text = viewer(model).static_html()
    assert "<b>arm" not in text
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", text)
    assert not re.findall(r"""(?:fetch|import|open|WebSocket)\(\s*["']https?://""", text)
    # what remains are names of XML dialects and of licences
    assert set(re.findall(r"https?://([\w.]+)", text)) <= {"www.w3.org"}


def test_joint_names_with_slashes_are_one_node():
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "leg/knee")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.0, 0.0, -0.2]), 0.01 * np.eye(3)), pin.SE3.Identity())
    assert pieces(viewer(pc.ClusterModel(tree)), "links") >= {"leg|knee"}


def test_a_model_without_anything_to_draw():
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "bare")
    viz = viewer(pc.ClusterModel(tree))
    assert pieces(viz, "joints") == {"bare"}


BAD = [
    (lambda v: v.display(np.zeros(3)), pc.ShapeError, "3 'mit_humanoid_leg'"),
    (lambda v: v.display(np.full(10, np.nan)), pc.ConfigurationError, "q[0] nan"),
    (lambda v: v.display("pose"), pc.ArgumentTypeError, "q str"),
    (lambda v: v.displayGroup("rotor", True), pc.UnknownNameError, "'rotors'"),
    (lambda v: v.drawArrow("a", [0, 0], [0, 0, 1]), pc.ShapeError, "'a' (2,)"),
    (lambda v: v.drawArrow(1, [0, 0, 0], [0, 0, 1]), pc.ArgumentTypeError, "1"),
    (lambda v: v.save("/nowhere/page.html"), visualize.ViewerError, "page.html"),
    (lambda v: v.animate([0.0], np.zeros((1, 10))), pc.ShapeError, "n (1,)"),
    (lambda v: v.animate([0.0, 1.0], np.zeros((2, 9))), pc.ShapeError, "(2, 10)"),
    (lambda v: v.animate([0.0, 0.0], np.zeros((2, 10))), pc.ConfigurationError, "ascending"),
    (lambda v: v.animate([0.0, 1.0], np.full((2, 10), np.inf)), pc.ConfigurationError, "q[0]"),
    (lambda v: v.animate("a", "b"), pc.ArgumentTypeError, "'a' q"),
    (lambda v: v.animate([0.0, 1.0], np.zeros((2, 10)), ghost=([0.0], [])), pc.ShapeError, "ghost time"),
    (lambda v: v.animate([0.0, 1.0], np.zeros((2, 10)), v=np.zeros(5)), pc.ShapeError, "v (5,)"),
    (lambda v: v.viewer.open(), AttributeError, ""),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_bad_input(call, error, words):
    viz = viewer(pc.load("mit_humanoid_leg"))
    with raises(error, words):
        call(viz)


def test_bad_models_and_order_of_calls():
    with raises(pc.ArgumentTypeError, "Model"):
        visualize.MeshcatVisualizer(pin.Model())
    model = pc.load("four_bar")
    with raises(pc.UnknownNameError, "'belts'"):
        visualize.MeshcatVisualizer(model, draw=["belt"])
    viz = visualize.MeshcatVisualizer(model)
    with raises(visualize.ViewerError, "initViewer"):
        viz.display(model.q_reference)
    viz.initViewer(viewer=visualize.offline())
    with raises(visualize.ViewerError, "loadViewerModel"):
        viz.display(model.q_reference)


def test_without_meshcat_the_extra_is_named():
    code = "import sys; sys.modules['meshcat'] = None\nimport pin_clusters as pc\npc.visualize"
    done = subprocess.run([sys.executable, "-W", "ignore", "-Pc", code], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "NotAvailableError: pin_clusters.visualize needs meshcat" in done.stderr
    assert "pip install '.[viz]'" in done.stderr


def test_a_server_that_does_not_answer(monkeypatch):
    from pin_clusters.visualize import server

    monkeypatch.setattr(server, "_PATIENCE", 200)
    viz = visualize.MeshcatVisualizer(pc.load("four_bar"))
    with raises(visualize.ViewerError):
        viz.initViewer(zmq_url="tcp://127.0.0.1:9")
    with raises(visualize.ViewerError, "'here'"):
        viz.initViewer(zmq_url="here")


def test_a_live_server_gets_the_same_scene(capsys):
    model = pc.load("four_bar")
    with visualize.MeshcatVisualizer(model) as viz:
        viz.initViewer(loadModel=True)
        assert "http://127.0.0.1" in capsys.readouterr().out
        viz.display(model.q_reference)
        process = viz.viewer.window.server_proc
        assert process.poll() is None
        assert "pinocchio" not in viz.viewer.url()
        other = visualize.MeshcatVisualizer(model)
        shared = visualize.offline()
        shared.window = viz.viewer.window.live
        other.initViewer(viewer=shared, loadModel=True)
        assert viz.viewer.window.get_scene().count("viewer.handle_command_bytearray") > 20
    assert process.poll() is not None


def listening(port: int) -> set[str]:
    """Return the addresses at which this machine listens at a port, as Linux writes them."""
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    ends = [words[1].rsplit(":", 1) for words in lines if words[3] == "0A"]
    return {address for address, number in ends if int(number, 16) == port}


def status(port: int, path: str, *headers: tuple[str, str]) -> int:
    """Ask a server on this machine with headers of one's own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    for header in headers:
        connection.putheader(*header)
    connection.endheaders()
    found = connection.getresponse().status
    connection.close()
    return found


SOCKET = (
    ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", "x3JJHMbDL1EzLkh9GBhXDw=="),
    ("Sec-WebSocket-Version", "13"),
)  # fmt: skip


@pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="nothing lists where this machine listens")
@pytest.mark.parametrize("host", [None, "localhost", "0.0.0.0"])
def test_a_server_answers_this_machine_alone_unless_it_is_asked_for_more(host):
    with visualize.MeshcatVisualizer(pc.load("four_bar")) as viz:
        viz.initViewer(host=host)
        port = int(re.search(r"//(127\.0\.0\.1|localhost):(\d+)/", viz.viewer.url())[2])
        everywhere = {"00000000", "0" * 32} & listening(port)
        assert bool(everywhere) == (host == "0.0.0.0")
        asked = ["127.0.0.1", "127.0.0.1:80", "localhost:7000", "LOCALHOST", "[::1]:1"]
        assert {status(port, "/static/", ("Host", name)) for name in asked} == {200}
        others = [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:7000",
            "",
            "a@127.0.0.1",
        ]
        for path in ("/static/", "/static/main.min.js", "/", "/nothing"):
            assert {status(port, path, ("Host", name)) for name in others} <= {400, 403}
        assert status(port, "/static/", ("Host", "192.0.2.7:7000")) == (200 if host == "0.0.0.0" else 403)
        assert status(port, "/static/", ("Host", "127.0.0.1"), ("Host", "evil.example")) in (400, 403)
        here = ("Host", f"127.0.0.1:{port}")
        assert status(port, "/", here, ("Origin", f"http://127.0.0.1:{port}"), *SOCKET) == 101
        assert status(port, "/", here, ("Origin", "http://evil.example"), *SOCKET) == 403
        assert status(port, "/", ("Host", "evil.example"), ("Origin", "http://evil.example"), *SOCKET) == 403
        for _ in range(3):  # a server whose messages nobody reads goes on
            assert {status(port, "/" + "x" * 5000, ("Host", "evil.example")) for _ in range(20)} == {403}
        viz.loadViewerModel()
        assert status(port, "/static/", here) == 200


@pytest.mark.parametrize("host", ["", "no.such.host.invalid", "192.0.2.1", "127.0.0.1:7000", 7000])
def test_a_host_at_which_nothing_can_listen(host):
    viz = visualize.MeshcatVisualizer(pc.load("four_bar"))
    with raises(visualize.ViewerError, f"{host!r}"):
        viz.initViewer(host=host)


def test_a_host_is_of_a_new_server():
    viz = visualize.MeshcatVisualizer(pc.load("four_bar"))
    with raises(visualize.ViewerError, "host zmq_url"):
        viz.initViewer(zmq_url="tcp://127.0.0.1:6000", host="0.0.0.0")
    with raises(visualize.ViewerError, "host zmq_url"):
        viz.initViewer(viewer=visualize.offline(), host="127.0.0.1")


def test_arguments_of_the_viewer_are_in_pinocchios_order():
    viewer = PinocchioViewer
    for name in ("__init__", "initViewer", "loadViewerModel"):
        theirs = list(inspect.signature(getattr(viewer, name)).parameters.values())
        ours = list(inspect.signature(getattr(visualize.MeshcatVisualizer, name)).parameters.values())
        more = [p for p in ours if p.name not in {t.name for t in theirs}]
        assert all(p.kind is p.KEYWORD_ONLY for p in more if name == "initViewer")
    viz = visualize.MeshcatVisualizer(pc.load("four_bar"))
    viz.initViewer(visualize.offline(), False, True)
    assert viz.viewer.window.paths


@pytest.mark.ci
def test_the_server_ends_with_a_program_that_is_killed():
    code = (
        "import os, pin_clusters as pc\nviz = pc.visualize.MeshcatVisualizer(pc.load('four_bar'))\nviz.initViewer()\n"
        "print(viz.viewer.window.server_proc.pid, flush=True)\nos.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-Pc", code], capture_output=True, text=True, check=False)
    where, pid = done.stdout.splitlines()
    assert "127.0.0.1" in where
    end = time.monotonic() + 60
    while (
        time.monotonic() < end and Path(f"/proc/{pid}/cmdline").is_file() and Path(f"/proc/{pid}/cmdline").read_text()
    ):
        time.sleep(0.05)
    assert time.monotonic() < end


def gripper(ratio: float) -> pc.ClusterModel:
    """Two fingers; the second follows the first, and is hardly balanced if it is fast."""
    tree = pin.Model()
    for k, name in enumerate(("left", "right")):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.05 * k, 0.0]))
        joint = tree.addJoint(0, pin.JointModelRX(), place, name)
        inertia = pin.Inertia.FromBox(0.1, 0.01, 0.01, 0.06)
        off = 0.03 if abs(ratio) <= 1.0 else 0.01
        tree.appendBodyToJoint(joint, inertia, pin.SE3(np.eye(3), np.array([0.0, 0.0, off])))
    return pc.ClusterModel(tree, [pc.LinearCoupling("right", {"left": ratio})])


@pytest.mark.parametrize(("ratio", "drawn"), [(-1.0, "links/right"), (9.0, "rotors/right")])
def test_a_finger_that_follows_is_drawn_as_a_link_and_a_rotor_as_a_rotor(ratio: float, drawn: str) -> None:
    model = gripper(ratio)
    assert approximations.followers(model) == (("right",) if ratio == -1.0 else ())
    paths = {node.path for node in Figure(model).nodes}
    assert drawn in paths
    assert len(paths & {"links/right", "rotors/right"}) == 1
