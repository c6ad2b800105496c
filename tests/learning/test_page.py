"""The guide to CasADi, PyTorch and JAX: its table, its code, and errors for missing packages and options."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from samples import pool
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support.extras import NAMES, cure
from pin_clusters.export.hosts.routines import routine

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "learn.md"
PACKAGES = {"C": None, "CUDA": None, "CasADi": "casadi", "PyTorch": "torch", "JAX": "jax"}


def lines() -> dict[str, str]:
    """Return the lines of code in the table of the page, by the name of the library."""
    text = PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"^\| (\w+) \| `(pc\.\w+\.\w+\(model.*?\))` \|", text, re.MULTILINE))


@pytest.mark.parametrize("where", PACKAGES)
def test_a_line_of_code_for_each(where: str) -> None:
    needed = PACKAGES[where]
    library = pytest.importorskip(needed, reason=f"needs pip install '.[{needed}]'") if needed else np
    code = lines()[where]
    model = pc.load("four_bar")
    kind = {"torch": lambda x: library.tensor(x), "jax": lambda x: x.astype(np.float32)}.get(needed or "", np.asarray)
    state = {"q": model.q_reference, "v": np.array([2.0]), "tau": np.array([0.1])}
    found = eval(code, {"pc": pc, "model": model} | {name: kind(x) for name, x in state.items()})
    exact = pc.aba(model, model.createData(), **state)
    if needed is None:
        assert "four_bar_aba" in str(found)
    else:
        found = found(*state.values()) if needed == "casadi" else found
        np.testing.assert_allclose(np.asarray(found).ravel(), exact, rtol=1e-4 if needed == "jax" else 1e-12)


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("torch", marks=pytest.mark.long),
        pytest.param("jax", marks=pytest.mark.long),
        pytest.param("casadi", marks=pytest.mark.ci),
    ],
)
def test_its_code_runs(library: str) -> None:
    pytest.importorskip(library, reason=f"needs pip install '.[{library}]'")
    code, *others = [x for x in blocks() if f"pc.{library}." in x]
    found: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "robot .* no real body", pc.PinClustersWarning)
        for other in others:  # the block on contacts
            exec(other, {})
        try:
            exec(code.replace("robots = 4096", "robots = 64"), found)
        finally:
            if library == "jax":
                found["jax"].config.update("jax_enable_x64", False)  # type: ignore[attr-defined]
    if library == "torch":
        assert np.isfinite(np.asarray(found["tau"].grad)).all()  # type: ignore[attr-defined]
        return
    model = found["model"]
    state = [np.asarray(found[name], dtype=float) for name in ("q", "v", "tau")]
    ddq_dq, *_ = pc.computeABADerivatives(model, model.createData(), *state)  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.asarray(found["ddq_dq"]), ddq_dq, rtol=1e-9, atol=1e-9 * np.abs(ddq_dq).max())


@pytest.mark.parametrize("name", pool.some(["casadi", "torch", "jax"], 1, rest="ci"))
def test_a_missing_package_names_the_extra(name: str) -> None:
    assert importlib.util.find_spec(f"pin_clusters.export.hosts.{name}") is not None
    code = f"""
import sys
sys.modules[{name!r}] = None
import pin_clusters as pc
try:
    pc.{name}
except pc.NotAvailableError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Install it: pip install {name} (from a checkout" in done.stdout
    assert f"also run pip install '.[{name}]')." in done.stdout


def test_what_a_message_tells_to_install_is_what_the_extra_has() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name in (*NAMES, "cuda", "dask", "viz"):
        wheels, extra = re.findall(r"pip install (.+?) \(.*'\.\[(\w+)\]'", cure(name))[0]
        for wheel in wheels.replace("'", "").split():
            assert any(one.startswith(wheel.split(">=")[0]) for one in extras[extra]), (name, wheel)


def test_a_list_of_frames_is_one_array() -> None:
    """What was a tuple was taken for its first frame's: a list gives an axis of frames, a name none."""
    casadi = pytest.importorskip("casadi", reason="needs pip install '.[casadi]'")
    model = pc.load("mit_humanoid_leg", root_joint=None)
    data, names = model.createData(), ["knee", "ankle"]
    q, v = np.linspace(0.1, 0.5, model.nq), np.linspace(1.0, -1.0, model.nv)
    pc.framesForwardKinematics(model, data, q)
    places = np.array([data.oMf[model.getFrameId(name)].homogeneous for name in names])
    for frames, wanted in ((names, places), (["ankle"], places[1:]), ("ankle", places[1])):
        of_rows = routine(model, "framesForwardKinematics", frames=frames)
        assert [shape for _, shape in of_rows.outputs] == [wanted.shape]
        np.testing.assert_allclose(of_rows([q[None]]).results[0][0], wanted, atol=1e-12)
        found = np.array(pc.casadi.function(model, "framesForwardKinematics", frames=frames)(q))
        np.testing.assert_allclose(found, wanted.reshape(-1, 4), atol=1e-12)
    moved = pc.casadi.function(model, "getFrameVelocityDerivatives", frames=iter(names))
    assert moved.name_out() == ["dframes_dq", "dframes_dv"]
    by_v = moved(q, v)[1]
    assert isinstance(by_v, casadi.DM)
    jacobians = [pc.computeFrameJacobian(model, data, q, model.getFrameId(name)) for name in names]
    np.testing.assert_allclose(np.array(by_v), np.vstack(jacobians), atol=1e-12)
    assert [name for name, _ in pc.trace(model, "framesForwardKinematics", frames=names).outputs] == names
    assert routine(model, "inverse_operational_inertia", frames=names).outputs == (("A", (12, 12)),)


@pytest.mark.parametrize("host", ["torch", "jax"])
def test_what_is_listed_is_called_as_it_is_listed(host: str) -> None:
    """Functions of frames and contacts take them as options, ids also as arrays; what is missing is a line to write."""
    pytest.importorskip(host, reason=f"needs pip install '.[{host}]'")
    where, model = getattr(pc, host), pc.load("mit_humanoid_leg", root_joint=None)
    q = np.linspace(0.1, 0.5, model.nq, dtype=np.float32)
    ids = np.array([model.getFrameId(name) for name in ("knee", "ankle")])
    given = (importlib.import_module("torch").as_tensor(q) if host == "torch" else q,)
    wanted = [pc.computeFrameJacobian(model, model.createData(), q.astype(float), int(i)) for i in ids]
    for frames in (["knee", "ankle"], ids, ids.astype(np.uint8), [*ids]):
        found = where.computeFrameJacobian(model, *given, frames=frames)
        np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-5)
    for frame in (ids[1], np.array(ids[1]), "ankle"):
        np.testing.assert_allclose(
            np.asarray(where.computeFrameJacobian(model, *given, frames=frame)), wanted[1], atol=1e-5
        )
    for name in (name for name in dir(where) if name in pc.tracing.FUNCTIONS):
        needs = pc.tracing.FUNCTIONS[name].about
        assert (f"*, {needs}, status=" in getattr(where, name).__doc__) == bool(needs), name
        if needs:
            with raises(pc.ArgumentTypeError, f"pc.{host}.{name} {needs}"):
                getattr(where, name)(model, *given)
    with raises(pc.ArgumentTypeError, "frames"):
        where.computeFrameJacobian(model, *given, frames=np.array([], dtype=int))
