"""The bundle of ``benchmarks/gpu.py --bundle``: without a GPU, on the CPU, and with a fake CUDA driver."""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support.compilers import CPP, needs_cpp, run
from support.nvrtc import needs_nvrtc
from support.scripts import BENCHMARKS, benchmarks

import pin_clusters as pc

pytestmark = pytest.mark.ci

FAKE = Path(__file__).resolve().parents[1] / "support" / "fake_libcuda.cpp"
MODULES = ("timing", "many_worlds", "gpu_step", "gpu_driver", "gpu_host", "gpu_run", "gpu_bundle", "gpu")
COPIED = {"run.py": "gpu_run.py", "gpu_driver.py": "gpu_driver.py", "gpu_host.py": "gpu_host.py"}


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    with benchmarks(*MODULES) as found:
        yield found


@pytest.fixture(scope="module")
def bundle(scripts: dict[str, ModuleType], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    command = ["four_bar", "--bundle", str(folder), "--functions", "aba", "--sources-only"]
    assert scripts["gpu"].main(command) == 0
    return folder


def start(bundle: Path, *arguments: str, code: int = 0, **environment: str) -> str:
    """Run the script of a bundle, without the module path of this process."""
    command = [sys.executable, "-W", "error", str(bundle / "run.py"), *arguments]
    own = {name: x for name, x in os.environ.items() if name != "PYTHONPATH"} | environment
    done = subprocess.run(command, capture_output=True, text=True, env=own, cwd=bundle, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def entries(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["kernels"]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CUDA driver whose device is this processor."""
    folder = tmp_path_factory.mktemp("driver")
    run(CPP[0], "-shared", "-fPIC", "-O1", "-w", FAKE, "-o", "libcuda.so.1", "-ldl", cwd=folder)
    return folder


def test_without_a_gpu(bundle: Path, tmp_path: Path) -> None:
    """The script says what is missing, writes nothing and succeeds; this machine may have a GPU."""
    (tmp_path / "libcuda.so.1").write_text("not a library")
    out = start(bundle, LD_LIBRARY_PATH=str(tmp_path))
    assert out.startswith("Nothing was measured: the NVIDIA driver is missing (")
    assert "run.py --cpu" in out
    assert not (bundle / "results.json").exists()


@needs_cpp
def test_a_driver_without_a_device_and_a_bundle_without_code(bundle: Path, driver: Path) -> None:
    out = start(bundle, LD_LIBRARY_PATH=str(driver), FAKE_DEVICES="0")
    assert out.startswith("Nothing was measured: the NVIDIA driver offers no GPU (cuInit: NO_DEVICE).")
    out = start(bundle, LD_LIBRARY_PATH=str(driver))
    assert out.startswith("Nothing was measured: the bundle has CUDA sources only. Write it without --sources-only.")


def test_without_numpy(bundle: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(bundle, bare)
    (bare / "numpy.py").write_text("raise ImportError")
    done = subprocess.run([sys.executable, str(bare / "run.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing was measured: NumPy is missing. Install it: pip install numpy.")


@needs_cpp
def test_expected_outputs_are_those_of_the_sources(bundle: Path, tmp_path: Path) -> None:
    """The sources, compiled for the CPU, are within the limits; with a wrong expected output they are not."""
    out = start(bundle, "--cpu", "--output", str(tmp_path / "right"))
    assert "all 2 kernels are within their limits" in out
    found = entries(tmp_path / "right")
    assert set(found) == {"four_bar_aba_double", "four_bar_aba_float"}
    for name, lowest, highest in (("four_bar_aba_double", 1e-18, 1e-14), ("four_bar_aba_float", 1e-8, 1e-6)):
        assert lowest < found[name]["median"] < highest
        assert found[name]["worst"] <= found[name]["limit"]
        assert found[name]["bad rows"] == 0
    assert "| four_bar | aba | double |" in (tmp_path / "right" / "results.md").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong"
    shutil.copytree(bundle, wrong)
    with np.load(wrong / "data" / "four_bar.npz") as file:
        data = dict(file)
    data["aba.ddq"][7] *= 1.0 + 1e-11
    np.savez(wrong / "data" / "four_bar.npz", **data)
    out = start(wrong, "--cpu", "*_double", code=1)
    assert "not within limits: four_bar_aba_double" in out
    assert entries(wrong)["four_bar_aba_double"]["worst"] == pytest.approx(1e-11, rel=0.1)
    data["q"][3, 1] += 0.1  # the loop is open
    np.savez(wrong / "data" / "four_bar.npz", **data)
    start(wrong, "--cpu", "*_float", code=1)
    found = entries(wrong)["four_bar_aba_float"]
    assert (found["bad rows"], found["worst"], found["within"]) == (1, None, False)


@needs_cpp
def test_on_a_gpu(bundle: Path, driver: Path, scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    """The fake driver's kernels are the same sources. It rejects the cubin, so the PTX is used."""
    folder, log = tmp_path / "bundle", tmp_path / "log"
    shutil.copytree(bundle, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["kernels"] = [x for x in manifest["kernels"] if x["real"] == "double"]
    for kernel in manifest["kernels"]:
        text = gzip.decompress((folder / kernel["source"]).read_bytes()).decode()
        scripts["gpu_host"].Compiled(tmp_path, text, kernel)
        ptx = tmp_path / f"{kernel['name']}.ptx"
        shutil.copy(tmp_path / f"{kernel['name']}.so", ptx)
        for key, image in (("ptx", ptx), ("cubin", tmp_path / "missing")):
            (folder / f"{kernel['name']}.{key}.gz").write_bytes(gzip.compress(str(image).encode()))
        kernel["ptx"] = f"{kernel['name']}.ptx.gz"
        kernel["cubins"] = {"sm_90": {"file": f"{kernel['name']}.cubin.gz", "spills": 0}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    fake = {"LD_LIBRARY_PATH": str(driver), "FAKE_FREE": "24000000", "FAKE_LOG": str(log)}
    out = start(folder, **fake)
    assert "all 1 kernels are within their limits" in out
    found = entries(folder)["four_bar_aba_double"]
    assert found["within"] is True
    assert (found["code"], found["registers"], found["local"], found["spills"]) == ("PTX", 77, 8, 40)
    assert found["cubin"] == "cuModuleLoadDataEx: FAILED not for this driver"
    assert all(1e3 < found[f"rows {rows}"] < 1e12 for rows in (1_000, 4_096, 10_000, 100_000))
    assert re.fullmatch(r"0\.0 GiB are needed, 0\.0 GiB are free", found["rows 1000000"])
    launched = log.read_text(encoding="utf-8").splitlines()
    assert launched.pop() == "kept 0"
    assert {"launch 8 32", "launch 128 32", "launch 782 128"} <= set(launched)
    assert set(launched) <= {f"launch {x}" for x in ("8 32", "32 32", "128 32", "313 32", "782 128")}
    # without time, nothing but the check of what is loaded
    out = start(folder, "--seconds", "0", code=1, **fake)
    assert "not loaded: out of time" in out


def test_what_is_copied_runs_on_old_python(bundle: Path) -> None:
    for copy, source in COPIED.items():
        text = (BENCHMARKS / source).read_text(encoding="utf-8")
        assert (bundle / copy).read_text(encoding="utf-8") == text
        tree = ast.parse(text, feature_version=(3, 9))
        names = {x.module or "" for x in ast.walk(tree) if isinstance(x, ast.ImportFrom)}
        names |= {one.name for x in ast.walk(tree) if isinstance(x, ast.Import) for one in x.names}
        assert not any(name.startswith("pin") for name in names)


def test_wrong_traces_are_not_written(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    module, model = scripts["gpu_bundle"], pc.load("four_bar")
    given = module.states(model)
    data = given | module.expected(model, given, ["aba"])
    traced = module.program(model, "aba")
    assert 64 * 2.2e-16 < module.limit(traced, "aba", "double", data) < 1e-12
    data["aba.ddq"] = -data["aba.ddq"]
    with pytest.raises(ArithmeticError, match="the traced operations differ from the generic kernels by 2"):
        module.limit(traced, "aba", "double", data)
    with pytest.raises(ArithmeticError, match="differ from Pinocchio's projected dynamics"):
        module.against_projection(model, data, ["aba"])


@pytest.mark.ci
@needs_cpp
@needs_nvrtc
def test_everything_of_a_robot(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    """Derivatives and vector-Jacobian products of a robot with loops, PTX and cubins included."""
    assert scripts["gpu"].main(["planar_leg_linkage", "--bundle", str(tmp_path)]) == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["kernels"]) == 2 * len(scripts["gpu_bundle"].FUNCTIONS) - 2  # no contact step
    for kernel in manifest["kernels"]:
        ptx = gzip.decompress((tmp_path / kernel["ptx"]).read_bytes())
        assert re.search(rb"^\.version 7\.0$", ptx, re.MULTILINE)
        assert f".entry {kernel['symbol']}(".encode() in ptx
        cubin = gzip.decompress((tmp_path / kernel["cubins"]["sm_90"]["file"]).read_bytes())
        assert cubin.startswith(b"\x7fELF")
    assert "all 12 kernels are within their limits" in start(tmp_path, "--cpu")


@pytest.mark.ci
@needs_cpp
def test_contact_steps(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    """The sources of a contact step, compiled for the CPU, are within the limits in both number types."""
    command = ["mini_cheetah", "--bundle", str(tmp_path), "--functions", "step", "--sources-only"]
    assert scripts["gpu"].main(command) == 0
    assert "all 2 kernels are within their limits" in start(tmp_path, "--cpu")
    found = entries(tmp_path)
    assert set(found) == {f"mini_cheetah_on_ground_step_{real}" for real in ("double", "float")}
    assert all(x["limit"] < 0.05 for x in found.values())
