"""Write a folder with which the CUDA kernels are checked and measured on another machine: ``gpu.py --bundle DIR``."""

from __future__ import annotations

import gzip
import json
import math
import pickle
import re
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gpu_step
import numpy as np
from gpu_run import row_errors

import pin_clusters as pc
from pin_clusters.compiler.machine_code import store
from pin_clusters.compiler.tracing import Program
from pin_clusters.compiler.tracing.expressions import Graph
from pin_clusters.compiler.tracing.program import objects
from pin_clusters.errors import NotAvailableError
from pin_clusters.export.codegen._cuda import THREADS
from pin_clusters.export.codegen._exported_function import STATUS
from pin_clusters.export.cuda.driver import _FEW, _MANY_ROWS
from pin_clusters.verification.baselines import projection

HERE = Path(__file__).parent
ROBOTS = ("four_bar", "mini_cheetah", "tello", "mit_humanoid")
FUNCTIONS = ("aba", "rnea", "aba_vjp", "rnea_vjp", "computeRNEADerivatives", "computeABADerivatives", "step")
DYNAMICS = {"aba": (("q", "v", "tau"), "ddq"), "rnea": (("q", "v", "a"), "tau")}  # inputs, output
DERIVATIVES = {"aba": "computeABADerivatives", "rnea": "computeRNEADerivatives"}
MATRICES = {
    ("aba", "q"): "ddq_dq", ("aba", "v"): "ddq_dv", ("aba", "tau"): "Minv",
    ("rnea", "q"): "dtau_dq", ("rnea", "v"): "dtau_dv", ("rnea", "a"): "M",
}  # fmt: skip
REALS = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
STATES = 256
ARCHITECTURES = ("sm_90",)
PTX_TARGET, PTX_ISA = "compute_75", "7.0"
# A kernel may be so many times less accurate than the same operations in NumPy, which fuses no products and sums. The
# least limit is in units of the last place. The ceilings would catch a trace that is wrong in both.
FACTOR, LEAST, CEILING = 16.0, 64.0, {"double": 1e-9, "float": 2e-2}
EXPECTED = (
    "float64 results of the generic kernels (pc.engine('tables')), compiled by Numba from the formulas that the traces "
    "follow; aba and rnea were compared with Pinocchio's projected dynamics (difference_from_projection); "
    "vector-Jacobian products, which the traces get by reverse differentiation, are the derivative matrices, "
    "transposed, times the cotangents; derivatives by q are along pc.integrate; a step was compared with "
    "pc.batch.simulate, and its float64 results are those of the traced operations in NumPy"
)
LIMITS = (
    f"largest error over all rows, relative to the row's largest entry: {FACTOR:g} times the error of the same "
    f"operations in NumPy in the same type (fused operations and the order of sums may differ), but at least "
    f"{LEAST:g} units of the last place"
)


class Machine(NamedTuple):
    """PTX of a kernel; per architecture the cubin, and its registers and spills [bytes written and read per thread]."""

    ptx: bytes
    cubins: dict[str, bytes]
    used: dict[str, dict[str, int]]


def vjp(model: pc.ClusterModel, function: str) -> Program:
    """Return the vector-Jacobian product of a function, with the derivative by q along ``pc.integrate`` (size nv)."""
    backward, tangent = pc.trace(model, function).vjp(), pc.trace(model, "tangent")
    given = Graph().inputs(0, sum(size for _, size in backward.inputs))
    entries = backward.run(backward.constants.tolist(), given)
    found = {name: objects(own) for name, _, own in backward.by_output(entries)}
    T = objects(tangent.run(tangent.constants.tolist(), given[: model.nq])).reshape(model.nq, model.nv)
    return Program.of(f"{model.name}, {function}_vjp", backward.inputs, found | {"q_bar": found["q_bar"] @ T})


def program(model: pc.ClusterModel, function: str) -> Program:
    """Return the program of a function; functions of ``pc.batch`` have the status that they have there."""
    base, _, product = function.partition("_")
    return vjp(model, base) if product else pc.trace(model, function, status=True)


def states(model: pc.ClusterModel) -> dict[str, np.ndarray]:
    """Return states about the reference configuration, and cotangents; loops are closed."""
    rng = np.random.default_rng(0)
    q = np.tile(model.q_reference, (STATES, 1))
    found = {"q": pc.batch.integrate(model, q, 0.1 * rng.normal(size=(STATES, model.nv)))}
    for name in ("v", "a", "tau", "ddq_bar", "tau_bar"):
        found[name] = rng.normal(size=(STATES, model.nv))
    return found


def expected(model: pc.ClusterModel, given: dict[str, np.ndarray], functions: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the outputs of functions, by generic kernels; keys are ``function.output``."""
    found: dict[str, np.ndarray] = {}
    with pc.engine("tables"):
        for base, (names, output) in DYNAMICS.items():
            rows = [given[name] for name in names]
            if base in functions:
                found[f"{base}.{output}"] = getattr(pc.batch, base)(model, *rows)
            derivatives, product = DERIVATIVES[base], f"{base}_vjp"
            if derivatives in functions or product in functions:
                matrices = dict(zip(names, getattr(pc.batch, derivatives)(model, *rows), strict=True))
                for name, matrix in matrices.items():
                    if derivatives in functions:
                        found[f"{derivatives}.{MATRICES[base, name]}"] = matrix
                    if product in functions:
                        found[f"{product}.{name}_bar"] = np.einsum("rij,ri->rj", matrix, given[f"{output}_bar"])
    return found


def against_projection(model: pc.ClusterModel, data: dict[str, np.ndarray], functions: Sequence[str]) -> float:
    """Return the largest difference of dynamics from Pinocchio's on the tree, projected, relative to the row's entries.

    Raises:
        ArithmeticError: They differ by more than rounding explains.
    """
    workspace, worst = projection.createData(model), 0.0
    for base, (names, output) in DYNAMICS.items():
        if base in functions:
            rows = zip(*(data[name] for name in names), strict=True)
            right = np.array([getattr(projection, base)(model, workspace, *row) for row in rows])
            worst = max(worst, float(row_errors(data[f"{base}.{output}"], right).max()))
    if not worst <= CEILING["double"]:
        raise ArithmeticError(
            f"{model.name}: generic kernels differ from Pinocchio's projected dynamics by {worst:.1e} of the largest "
            f"entry, more than {CEILING['double']:g}. No bundle was written."
        )
    return worst


def limit(traced: Program, function: str, real: str, data: dict[str, np.ndarray]) -> float:
    """Return the largest error that a kernel may have, as ``LIMITS`` says.

    Raises:
        ArithmeticError: The traced operations miss the expected outputs by more than rounding explains.
    """
    if function == "step" and real == "double":
        # The expected outputs are those of the same operations. Rounding errors are proportional to the precision.
        return limit(traced, function, "float", data) * float(np.finfo(np.float64).eps / np.finfo(np.float32).eps)
    dtype = REALS[real]
    entries = traced(*(data[name].astype(dtype) for name, _ in traced.inputs))
    entries = entries if isinstance(entries, tuple) else (entries,)
    worst = 0.0
    for (name, _), found in zip(traced.outputs, entries, strict=True):
        if name not in STATUS:
            worst = max(worst, float(row_errors(found, data[f"{function}.{name}"]).max()))
    if not worst <= CEILING[real]:
        raise ArithmeticError(
            f"{traced.name} in {real}: the traced operations differ from the generic kernels by {worst:.1e} of the "
            f"largest entry, more than {CEILING[real]:g}. The trace or the kernels are wrong; no bundle was written."
        )
    return max(FACTOR * worst, LEAST * float(np.finfo(dtype).eps))


def nvrtc_version() -> str:
    """Return the version of NVRTC.

    Raises:
        NotAvailableError: NVRTC is not installed.
    """
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise NotAvailableError(
            "the bundle's PTX and cubins need NVRTC: pip install '.[cuda]' (or 'cuda-core[cu13]'). Without it, "
            "--sources-only writes a bundle that can be checked with a C++ compiler, but not on a GPU."
        ) from error
    return ".".join(map(str, _good(nvrtc.nvrtcVersion())))


def _good(returned: tuple[Any, ...]) -> Any:
    code, *found = returned
    if int(code):
        raise NotAvailableError(f"NVRTC failed: {code}.")
    return found[0] if len(found) == 1 else found


def _compiled(text: str, symbol: str, architectures: Sequence[str]) -> Machine:
    """Compile CUDA C to PTX, and the PTX to cubins; neither needs a driver.

    ``cuda.core`` asks the driver before it returns PTX, so the bindings below it are called here.
    """
    from cuda.bindings import nvjitlink, nvrtc

    made = _good(nvrtc.nvrtcCreateProgram(text.encode(), symbol.encode(), 0, [], []))
    options = [b"--std=c++17", f"--gpu-architecture={PTX_TARGET}".encode()]
    _good(nvrtc.nvrtcCompileProgram(made, len(options), options))
    ptx = b" " * _good(nvrtc.nvrtcGetPTXSize(made))
    _good(nvrtc.nvrtcGetPTX(made, ptx))
    # NVRTC states its own, newest version, which drivers of the same age and older reject. The code needs no more than
    # PTX_ISA: that it compiles below confirms it, since the assembler rejects what is newer than the version stated.
    ptx, count = re.subn(rb"(?m)^\.version [\d.]+$", f".version {PTX_ISA}".encode(), ptx.rstrip(b"\0"), count=1)
    assert count == 1, "the PTX states no version"
    cubins, used = {}, {}
    for architecture in architectures:
        link = nvjitlink.create(3, [f"-arch={architecture}", "-verbose", "-Xptxas=-v"])
        nvjitlink.add_data(link, nvjitlink.InputType.PTX, ptx, len(ptx), symbol)
        nvjitlink.complete(link)
        cubin, log = bytearray(nvjitlink.get_linked_cubin_size(link)), bytearray(nvjitlink.get_info_log_size(link))
        nvjitlink.get_linked_cubin(link, cubin)
        nvjitlink.get_info_log(link, log)
        nvjitlink.destroy(link)
        cubins[architecture] = bytes(cubin)
        registers, spills = (re.findall(x, log.decode()) for x in (r"Used (\d+) registers", r"(\d+) bytes spill"))
        used[architecture] = {"registers": max(map(int, registers)), "spills": sum(map(int, spills))}
    return Machine(ptx, cubins, used)


def compiled(text: str, symbol: str, version: str, architectures: Sequence[str]) -> Machine:
    """Return the machine code of a source; it is kept in the cache folder of the package."""
    name = store.digest("gpu bundle, 2", version, PTX_TARGET, PTX_ISA, *architectures, text)
    kept = store.kept(name, lambda: pickle.dumps(tuple(_compiled(text, symbol, architectures))))
    return Machine(*pickle.loads(kept))


def kernels(
    model: pc.ClusterModel, robot: str, programs: dict[str, Program], data: dict[str, np.ndarray]
) -> Iterator[tuple[dict[str, Any], str]]:  # fmt: skip
    """Yield manifest entry and CUDA source of each kernel of a robot."""
    for function, traced in programs.items():
        status = any(name in STATUS for name, _ in traced.outputs)
        arguments: list[tuple[str, str, int]] = [("in", name, size) for name, size in traced.inputs]
        arguments += [("out", name, math.prod(shape)) for name, shape in traced.outputs if name not in STATUS]
        arguments += [("status", "status", 1)] * status
        for real in REALS:
            entry = {
                "name": f"{robot}_{function}_{real}", "symbol": f"{robot}_{function}", "robot": robot,
                "function": function, "real": real, "operations": traced.flops, "arguments": arguments,
                "limit": limit(traced, function, real, data), "cubins": {},
            }  # fmt: skip
            yield entry, pc.codegen.cuda(model, traced, real=real, status=status, name=robot)


def _packed(folder: Path, path: str, content: bytes) -> str:
    """Write a compressed file, of the same bytes for the same content; return its path."""
    (folder / path).write_bytes(gzip.compress(content, 9, mtime=0))
    return path


def write(
    folder: Path, robots: Sequence[str] = ROBOTS, functions: Sequence[str] = FUNCTIONS,
    *, architectures: Sequence[str] = ARCHITECTURES, sources_only: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Write a bundle, and return its manifest.

    Args:
        folder: The bundle's folder; it is made if it does not exist.
        robots: Names of shipped robots.
        functions: Among ``FUNCTIONS``.
        architectures: The architectures for which there are cubins; others compile the PTX.
        sources_only: Leave PTX and cubins out, which needs no NVRTC. Such a bundle runs only with ``--cpu``.

    Raises:
        NotAvailableError: NVRTC is not installed.
        ArithmeticError: Traced operations and generic kernels differ by more than rounding.
    """
    version = "" if sources_only else nvrtc_version()
    for name in ("kernels", "data"):
        if (folder / "manifest.json").exists():  # files of an earlier bundle
            shutil.rmtree(folder / name)
        (folder / name).mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    differences = {}
    for robot in robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = pc.load(robot)
        data = states(model)
        data |= expected(model, data, functions)
        differences[robot] = against_projection(model, data, functions)
        np.savez_compressed(folder / "data" / f"{robot}.npz", **data)
        made = [*kernels(model, robot, {x: program(model, x) for x in functions if x != "step"}, data)]
        if "step" in functions and robot in gpu_step.ROBOTS:
            data = gpu_step.data(robot, STATES)
            np.savez_compressed(folder / "data" / f"{robot}_on_ground.npz", **data)
            made += kernels(model, f"{robot}_on_ground", {"step": gpu_step.program(robot)}, data)
        for entry, text in made:
            start, stem = time.monotonic(), f"kernels/{entry['name']}"
            entry["source"] = _packed(folder, f"{stem}.cu.gz", text.encode())
            if version:
                machine = compiled(text, entry["symbol"], version, architectures)
                entry["ptx"] = _packed(folder, f"{stem}.ptx.gz", machine.ptx)
                for architecture, code in machine.cubins.items():
                    file = _packed(folder, f"{stem}.{architecture}.cubin.gz", code)
                    entry["cubins"][architecture] = {"file": file, **machine.used[architecture]}
            entries.append(entry)
            took = time.monotonic() - start
            print(f"{entry['name']}: {entry['operations']} operations, {took:.0f} s", flush=True)
    # the shortest first: where the driver compiles PTX, as many kernels as possible are measured
    entries.sort(key=lambda x: x["operations"])
    about = {"pin_clusters": pc.__version__, "NVRTC": version or "none", "PTX": f"{PTX_TARGET}, ISA {PTX_ISA}"}
    manifest = {
        "about": about, "expected": EXPECTED, "difference_from_projection": differences, "limits": LIMITS,
        "states": STATES, "launch": {"few": _FEW, "many": THREADS, "many from": _MANY_ROWS}, "kernels": entries,
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.copy(HERE / "gpu_run.py", folder / "run.py")
    for name in ("gpu_driver.py", "gpu_host.py"):
        shutil.copy(HERE / name, folder / name)
    return manifest
