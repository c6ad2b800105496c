"""``pin-clusters view``."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner, Result

import pin_clusters as pc
from pin_clusters._cli import cli, view
from pin_clusters.studies import motions


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, ["view", *arguments], prog_name="pin-clusters")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_page_of_a_swing_with_forces_and_ghost() -> None:
    result = run("four_bar", "--static", "bar.html", "--ghost", "frozen", "--forces", "--duration", "0.2")
    assert result.exit_code == 0, result.stderr
    assert "Released without torques" in result.stdout
    assert "Ghost: frozen loops" in result.stdout
    assert "Written: bar.html" in result.stdout
    text = Path("bar.html").read_text()
    for words in ("translucent: frozen loops", "constraint forces", "Released without torques", 'id="player"'):
        assert words in text
    pose = run("four_bar", "--static", "pose.html")
    assert pose.exit_code == 0
    assert 'id="player"' not in Path("pose.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("four_bars",), "No such robot or file: 'four_bars'. Did you mean 'four_bar'"),
        (("four_bar", "--animate", "swim"), "no motion or file is named 'swim'. Did you mean 'swing'"),
        (("four_bar", "--animate", "dance"), "Known names: swing, sweep, random, mini_cheetah_jump,"),
        (("four_bar", "--ghost", "diagonal"), "has no approximation 'diagonal'. Armature alone cannot"),
        (("mit_humanoid_leg", "--ghost", "x"), "Choose one of: 'none', 'diagonal', 'block'."),
        (("four_bar", "--animate", "random", "--ghost", "frozen"), "random poses have no torques"),
        (("four_bar", "--meshes", "--no-open"), "robot 'four_bar' is not a file, so it has no meshes."),
        (("four_bar", "--static", "no/such/page.html"), "the folder no/such of page.html does not exist"),
        (("four_bar", "--static", "."), ". is a folder. Specify a file"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that nobody can write to, /proc")
def test_a_file_that_cannot_be_written_is_found_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "load", lambda *_: pytest.fail("the work began"))
    assert "cannot write /proc/page.html" in run("four_bar", "--static", "/proc/page.html").stderr


def test_a_page_that_exists_is_not_touched_by_a_mistake() -> None:
    Path("page.html").write_text("mine")
    run("four_bar", "--static", "page.html", "--ghost", "none")
    assert Path("page.html").read_text() == "mine"
    assert [p.name for p in Path().iterdir()] == ["page.html"]


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("four_bar", "--port", str(port), "--no-open")
    assert result.exit_code == 1
    assert f"port {port} is in use. Choose another --port" in result.stderr


@pytest.mark.parametrize("host", ["", "no.such.host.invalid", "192.0.2.1"])
def test_a_host_at_which_nothing_can_listen(host: str) -> None:
    result = run("four_bar", "--host", host, "--no-open")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: host {host!r} is not a local address. Choose another --host")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("host", "in_url"), [("127.0.0.1",) * 2, ("localhost",) * 2, ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")]
)
def test_the_page_is_for_those_who_ask_this_machine(host: str, in_url: str) -> None:
    """A web page that reaches the server by a name of its own (DNS rebinding) gets nothing."""
    try:
        server = view.Server(None, host)
    except (pc.PinClustersError, OSError):
        assert host == "::1"
        pytest.skip("this machine has no IPv6")
    server.page = b"the robot"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    assert server.url == f"http://{in_url}:{port}/"

    def asked(*names: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("::1" if host == "::1" else "127.0.0.1", port, timeout=20)
        connection.putrequest("GET", "/", skip_host=True)
        for name in names:
            connection.putheader("Host", name)
        connection.endheaders()
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    try:
        for name in ("127.0.0.1", "localhost", "[::1]", f"{in_url}:{port}", "localhost:1"):
            assert asked(name) == (200, b"the robot")
        for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "localhost@evil.example"):
            assert asked(name) == (403, b"")
        assert asked() == asked("127.0.0.1", "evil.example") == (403, b"")
        for name in ("192.0.2.7", socket.gethostname()):
            assert asked(name)[0] == (200 if host == "0.0.0.0" or name in ("localhost",) else 403)
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("browser", [True, False])
def test_serving_until_ctrl_c(monkeypatch: pytest.MonkeyPatch, browser: bool) -> None:
    opened: list[str] = []
    found: list[bytes] = []

    def interrupted(server: view.Server) -> None:
        for path in ("", "missing"):
            answer = threading.Thread(target=server.handle_request)
            answer.start()
            try:
                with urllib.request.urlopen(server.url + path, timeout=20) as page:
                    found.append(page.read())
            except urllib.error.HTTPError as error:
                error.close()
                found.append(str(error.code).encode())
            answer.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(view.Server, "serve_forever", interrupted)
    monkeypatch.setattr("webbrowser.open", lambda url, new=0: opened.append(url) or browser)
    result = run("four_bar")
    assert result.exit_code == 0
    assert b"<title>four_bar</title>" in found[0]
    assert found[1] == b"404"
    assert opened[0].startswith("http://127.0.0.1:")
    assert opened[0] in result.stdout
    assert ("No browser was found" in result.stdout) is not browser
    assert result.stdout.endswith("Stopped.\n")


def test_help_names_motions_and_rungs() -> None:
    text = run("--help").stdout
    for word in (
        "swing",
        "sweep",
        "random",
        "mini_cheetah_trot",
        "diagonal",
        "unconstrained",
        "Ctrl-C",
        "the base is fixed",
    ):
        assert word in text


def test_without_meshcat(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['meshcat'] = None\nfrom pin_clusters._cli.cli import main\nmain(['view', 'four_bar'])"
    )
    done = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: pin_clusters.visualize needs meshcat")
    assert "pip install '.[viz]'" in done.stderr


def test_the_base_of_a_file_is_held_in_a_swing_and_that_of_its_ghost() -> None:
    """As that of shipped robots, which are loaded on a fixed base; free, it would fall by 20 m in 2 s."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        free, fixed = (pc.load("mini_cheetah", root_joint=root) for root in (pin.JointModelFreeFlyer(), None))
    found, expected = (motions.swing(model, 0.1, 0.3) for model in (free, fixed))
    assert np.ptp(found.q[:, :7], axis=0).max() == 0.0
    assert not found.v[:, :6].any()
    assert np.abs(found.q[:, 7:] - expected.q).max() < 1e-9
    assert "The base is fixed." in found.notes
    assert "The base is fixed." not in expected.notes
    ghosts = (motions.ghost(model, shown, "diagonal").q for model, shown in ((free, found), (fixed, expected)))
    held, still = ghosts
    assert np.ptp(held[:, :7], axis=0).max() == 0.0
    assert np.abs(held[:, 7:] - still).max() < 1e-9


def test_a_sweep_ends_where_the_loops_end() -> None:
    model = pc.load("ankle_2rsu")
    shown = motions.sweep(model, 1.0, 3.0)
    assert any(note.startswith("At a larger amplitude, ") for note in shown.notes)
    assert max(np.abs(pc.residual(model, q)).max() for q in shown.q[::100]) < 1e-9
    assert shown.tau is not None
    data = model.createData()
    # how a sine of each joint's phase begins, and these are the torques for that; a robot of newtons and metres
    amplitude = float(re.findall(r"follows ([0-9.]+) sin", shown.notes[0])[0])
    begin = -amplitude * (2.0 * np.pi * 0.5) ** 2 * np.sin([0.0, 0.5 * np.pi])
    np.testing.assert_allclose(pc.aba(model, data, shown.q[0], shown.v[0], shown.tau[0]), begin, atol=1e-9)


def test_a_robot_that_gravity_does_not_move_gets_a_push() -> None:
    model = pc.load("six_bar")  # vertical axes
    shown = motions.swing(model, 0.05, 0.2)
    assert np.abs(shown.v[0]).max() == 1.0
    assert "Gravity does not move this robot" in " ".join(shown.notes)


def test_random_poses_are_on_the_manifold_and_the_same_each_time() -> None:
    model = pc.load("delta")
    shown, again = (motions.random_poses(model, 4.5) for _ in range(2))
    np.testing.assert_array_equal(shown.q, again.q)
    assert len(shown.time) == 1 + 3 * 75
    assert (np.diff(shown.time) > 0.0).all()
    assert max(np.abs(pc.residual(model, q)).max() for q in shown.q[::15]) < 1e-9
    assert np.abs(shown.q[75] - shown.q[0]).max() > 0.05


def test_the_ghost_of_the_exact_robot_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.load("mit_humanoid_leg")
    shown = motions.sweep(model, 0.5, 0.3)

    class Exact:
        label = definition = "exact"

        @staticmethod
        def aba(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return pc.aba(model, data, q, v, tau)

    data = model.createData()
    ghost = motions.ghost(model, shown, "diagonal")
    apart = np.abs(ghost.q[-1] - shown.q[np.searchsorted(shown.time, ghost.time[-1] - 1e-9)]).max()
    monkeypatch.setattr(motions.approximations, "of", lambda model: {"diagonal": Exact})
    ghost = motions.ghost(model, shown, "diagonal")
    # torques are held over steps of a millisecond; that is what is left
    assert np.abs(ghost.q[-1] - shown.q[-1]).max() < 1e-3 < 0.1 * apart


URDF = """<robot name="box"><link name="ground"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry>{}</geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="ground"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def test_meshes_of_a_file() -> None:
    Path("box.urdf").write_text(URDF.format('<box size="0.2 0.3 0.4"/>'))
    assert run("box.urdf", "--meshes", "--animate", "sweep", "--static", "box.html").exit_code == 0
    Path("gone.urdf").write_text(URDF.format('<mesh filename="package://gone/arm.stl"/>'))
    result = run("gone.urdf", "--meshes", "--static", "gone.html")
    assert result.exit_code == 1
    assert "gone.urdf: the meshes cannot be read" in result.stderr
    assert not Path("gone.html").exists()


def test_joints_beyond_their_limits_are_named() -> None:
    tree = pin.Model()
    for k, (low, high) in enumerate([(-0.1, 0.1), (-2.0, 2.0), (0.0, 0.0)]):  # the last one was given none
        joint = tree.addJoint(k, pin.JointModelPX(), pin.SE3.Identity(), f"slide_{k}")
        tree.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        tree.lowerPositionLimit[k], tree.upperPositionLimit[k] = low, high
    model = pc.ClusterModel(tree)
    assert motions.beyond_limits(model, np.full((2, 3), 0.05)) == []
    (note,) = motions.beyond_limits(model, np.full((2, 3), -0.5))
    assert "exceeds the limits of slide_0" in note


def test_the_base_of_a_file_moves_as_it_was_recorded() -> None:
    Path("arm.urdf").write_text(
        '<robot name="arm"><link name="trunk"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="arm" type="continuous"><axis xyz="1 0 0"/>'
        '<parent link="trunk"/><child link="arm"/></joint></robot>'
    )
    time = np.linspace(0.0, 1.0, 21)
    columns = {"time": time, "arm": time, "x": 3.0 * time} | dict.fromkeys(("y", "z", "qx", "qy", "qz"), 0.0 * time)
    np.savez("walk.npz", **columns, qw=np.ones(21))
    model = view.load("arm.urdf", "walk.npz")
    shown = motions.make(model, "walk.npz", None)
    np.testing.assert_allclose(shown.q[:, 0], 3.0 * shown.time, atol=1e-9)  # a straight line, by splines
    assert view.load("arm.urdf", "swing").nv == 1
