"""Check and measure the CUDA kernels of this folder on an NVIDIA GPU.

    python run.py                        # all kernels; writes results.json and results.md
    python run.py 'four_bar_*'           # kernels whose names match a pattern; --list shows the names
    python run.py --cpu 'four_bar_*'     # compiles the same sources with a C++ compiler and checks them on the CPU

The script needs Python 3.9 or newer, NumPy and an NVIDIA driver. It calls the CUDA driver API through ctypes, so it
needs no CUDA toolkit, no CuPy and no PyTorch. All kernels are checked first; throughput is measured in the time that
is left. Results are written after each kernel, so an interrupted run keeps its measurements.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import json
import math
import os
import platform
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable  # noqa: UP035  (Python 3.9)

from gpu_driver import CudaError, Gpu, MissingError
from gpu_host import OPTIONS, Compiled, compiler

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

HERE = Path(__file__).resolve().parent
ROWS = (1_000, 4_096, 10_000, 100_000, 1_000_000)
COLUMNS = {
    "robot": "robot", "function": "function", "real": "type", "median": "median error", "worst": "worst error",
    "limit": "limit", "within": "within", "bad rows": "bad rows", "registers": "registers",
    "spills": "spills [B]", "local": "local [B]", "code": "code",
}  # fmt: skip


class Bundle:
    """The kernels, inputs and expected outputs of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._data = folder, {}  # type: ignore[var-annotated]
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    def data(self, robot: str) -> dict[str, Any]:
        """Return the inputs and the expected outputs of a robot: float64, one state per row."""
        if robot not in self._data:
            with np.load(self.folder / "data" / f"{robot}.npz") as file:
                self._data[robot] = {name: file[name] for name in file.files}
        return self._data[robot]

    def read(self, path: str) -> bytes:
        """Return the content of a compressed file."""
        return gzip.decompress((self.folder / path).read_bytes())


def row_errors(found: Any, right: Any) -> Any:
    """Return the largest error of each row, divided by the row's largest expected entry.

    The divisor is at least 1 % of its median over the rows. A smaller row is a difference of larger numbers, and its
    relative error would measure the cancellation only.
    """
    found, right = (x.reshape(len(x), -1).astype(float) for x in (found, right))
    size = np.abs(right).max(axis=1)
    size = np.maximum(size, 0.01 * np.median(size))
    with np.errstate(invalid="ignore"):
        error = np.abs(found - right).max(axis=1) / np.where(size == 0.0, 1.0, size)
    return np.where(np.isfinite(error), error, np.inf)


def type_of(kernel: dict[str, Any]) -> Any:
    """Return NumPy's type of a kernel's numbers."""
    return np.dtype(np.float64 if kernel["real"] == "double" else np.float32)


def check(bundle: Bundle, kernel: dict[str, Any], run: Callable[[list[Any], int], None]) -> dict[str, Any]:
    """Run a kernel on the states of the bundle, and compare its outputs with the expected outputs.

    Args:
        bundle: The folder.
        kernel: Entry of the manifest.
        run: Runs the kernel on arrays, one per argument, and on a number of rows.

    Returns:
        Median and largest error over the rows, whether the largest is within the limit, and the number of rows whose
        status is not 0.
    """
    data, dtype, arrays = bundle.data(kernel["robot"]), type_of(kernel), []
    rows = len(data["q"])
    for role, name, size in kernel["arguments"]:
        if role == "in":
            arrays.append(np.ascontiguousarray(data[name], dtype))
        else:
            arrays.append(np.full(rows, 9, np.int8) if role == "status" else np.full((rows, size), np.nan, dtype))
    run(arrays, rows)
    errors, bad = np.zeros(rows), 0
    for array, (role, name, _) in zip(arrays, kernel["arguments"]):  # noqa: B905  (Python 3.9)
        if role == "out":
            errors = np.maximum(errors, row_errors(array, data[f"{kernel['function']}.{name}"]))
        elif role == "status":
            bad = int(np.count_nonzero(array))
    median, worst = float(np.median(errors)), float(errors.max())
    return {
        "median": median if math.isfinite(median) else None, "worst": worst if math.isfinite(worst) else None,
        "limit": kernel["limit"], "within": worst <= kernel["limit"] and not bad, "bad rows": bad,
    }  # fmt: skip


def threads_for(bundle: Bundle, rows: int) -> int:
    """Return the block size for a number of rows, by the rule of ``pc.batch``."""
    launch = bundle.manifest["launch"]
    return int(launch["many"] if rows >= launch["many from"] else launch["few"])


def load(gpu: Gpu, bundle: Bundle, kernel: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Load the cubin for exactly this architecture; without one, or if the driver rejects it, the PTX."""
    cubin, refused = kernel["cubins"].get(gpu.architecture), {}
    if cubin:
        try:
            function, about = gpu.load(bundle.read(cubin["file"]), kernel["symbol"])
            return function, {"code": "cubin", "spills": cubin["spills"], **about}
        except CudaError as error:
            refused = {"cubin": str(error)}
    function, about = gpu.load(bundle.read(kernel["ptx"]), kernel["symbol"])
    return function, {"code": "PTX", **refused, **about}


def throughput(gpu: Gpu, bundle: Bundle, kernel: dict[str, Any], function: Any, rows: int) -> float | str:
    """Return states per second, or the reason why they were not measured."""
    data, dtype = bundle.data(kernel["robot"]), type_of(kernel)
    # the status pointer is null: the kernel does not write a status then
    sizes = [0 if role == "status" else rows * size * dtype.itemsize for role, _, size in kernel["arguments"]]
    needed, free = sum(sizes) / 2**30, gpu.free_memory() / 2**30
    if needed > 0.9 * free:
        return f"{needed:.1f} GiB are needed, {free:.1f} GiB are free"
    with gpu.buffers(sizes) as pointers:
        for pointer, (role, name, _) in zip(pointers, kernel["arguments"]):  # noqa: B905  (Python 3.9)
            if role == "in":
                gpu.fill(pointer, np.ascontiguousarray(data[name], dtype), rows)
        return rows / gpu.seconds(gpu.launcher(function, pointers, rows, threads_for(bundle, rows)))


def on_gpu(gpu: Gpu, bundle: Bundle, kernels: list[dict[str, Any]], report: Report, end: float) -> None:
    """Check all kernels, then measure them until the time is over."""
    start, loaded = time.monotonic(), {}
    for kernel in kernels:
        # PTX of large kernels takes minutes to compile; a third of the time is kept for the measurement
        if time.monotonic() > start + 0.67 * (end - start):
            report.add(kernel, {"note": "not loaded: out of time"})
            continue
        try:
            function, about = load(gpu, bundle, kernel)
            report.add(kernel, about)
            run = lambda arrays, rows, f=function: gpu.run(f, arrays, rows, threads_for(bundle, rows))  # noqa: E731
            report.add(kernel, check(bundle, kernel, run))
            loaded[kernel["name"]] = function
        except CudaError as error:
            report.add(kernel, {"note": str(error)})
        report.say(kernel)
    for kernel in kernels:
        if kernel["name"] not in loaded:
            continue
        for rows in ROWS:
            found: float | str = "out of time"
            if time.monotonic() < end:
                try:
                    found = throughput(gpu, bundle, kernel, loaded[kernel["name"]], rows)
                except CudaError as error:
                    found = str(error)
            report.add(kernel, {f"rows {rows}": found})
        report.say(kernel)


def on_cpu(bundle: Bundle, kernels: list[dict[str, Any]], report: Report) -> None:
    """Compile the sources with a C++ compiler, and check them on this processor.

    Raises:
        MissingError: There is no compiler.
    """
    about = " ".join([compiler(), *OPTIONS])
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels:
            start = time.monotonic()
            try:
                compiled = Compiled(Path(folder), bundle.read(kernel["source"]).decode(), kernel)
                report.add(kernel, {"code": about, "load [s]": round(time.monotonic() - start, 2)})
                report.add(kernel, check(bundle, kernel, compiled.run))
            except CudaError as error:
                report.add(kernel, {"note": str(error)})
            report.say(kernel)


class Report:
    """The results of a run, written to a folder whenever some are added."""

    def __init__(self, folder: Path, bundle: Bundle, about: dict[str, Any]) -> None:
        self.folder = folder
        date = time.strftime("%Y-%m-%d")
        self.found: dict[str, Any] = {"run": {**about, "date": date}, "bundle": bundle.manifest["about"], "kernels": {}}

    def add(self, kernel: dict[str, Any], about: dict[str, Any]) -> None:
        """Add results of a kernel, and write everything."""
        entry = self.found["kernels"].setdefault(kernel["name"], {x: kernel[x] for x in ("robot", "function", "real")})
        entry.update(about)
        (self.folder / "results.json").write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")
        (self.folder / "results.md").write_text(self.table() + "\n", encoding="utf-8")

    def say(self, kernel: dict[str, Any]) -> None:
        """Print what is known about a kernel."""
        entry = self.found["kernels"][kernel["name"]]
        keys = [x for x in entry if x not in ("robot", "function", "real")]
        print(f"{kernel['name']}: " + ", ".join(f"{x} {shown(entry[x])}" for x in keys), flush=True)

    def table(self) -> str:
        """Return the results as a table in Markdown."""
        entries = list(self.found["kernels"].values())
        columns = {**COLUMNS, **{f"rows {n}": f"states/s, {n} rows" for n in ROWS}, "note": "note"}
        used = {key: title for key, title in columns.items() if any(key in entry for entry in entries)}
        lines = [", ".join(f"{x}: {y}" for x, y in {**self.found["run"], **self.found["bundle"]}.items()), ""]
        lines += [f"| {' | '.join(used.values())} |", "| --- " * len(used) + "|"]
        lines += [f"| {' | '.join(shown(entry.get(key, '-')) for key in used)} |" for entry in entries]
        return "\n".join(lines)

    def missed(self) -> list[str]:
        """Return the names of kernels that were not found to be within their limits."""
        return [name for name, entry in self.found["kernels"].items() if not entry.get("within")]


def described(kernel: dict[str, Any]) -> str:
    """Return the name of a kernel, and what is known about it before it runs."""
    facts = [f"{kernel['operations']} operations"]
    for architecture, cubin in kernel["cubins"].items():
        facts.append(f"{architecture}: {cubin['registers']} registers, {cubin['spills']} bytes of spills")
    return f"{kernel['name']}: {', '.join(facts)}"


def shown(x: Any) -> str:
    """Return a value as text."""
    if x is None or isinstance(x, bool):
        return {None: "not finite", True: "yes", False: "no"}[x]
    return f"{x:.2g}" if isinstance(x, float) else str(x).replace("\n", " ").replace("|", "/")


def writable(*folders: Path) -> Path:
    """Return the first folder in which files can be made."""
    for folder in folders:
        if folder.is_dir() and os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp())


def stop(report: Report) -> None:
    """End the process: a call of the driver takes too long and cannot be interrupted."""
    print(f"out of time; what was measured is in {report.folder}", flush=True)
    os._exit(3)


def main(arguments: list[str] | None = None) -> int:
    """Run the script; return 0 unless results are outside their limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", default=["*"], help="patterns of names; all kernels by default")
    parser.add_argument("--cpu", action="store_true", help="compile the sources with a C++ compiler and check them")
    parser.add_argument("--list", action="store_true", help="print the kernels, and what the compiler reported")
    parser.add_argument("--seconds", type=float, default=200.0, help="time budget of a run on a GPU (default: 200)")
    parser.add_argument("--output", type=Path, help="folder of results.json and results.md (default: this folder)")
    given, start = parser.parse_args(arguments), time.monotonic()
    try:
        if np is None:
            raise MissingError("NumPy is missing. Install it: pip install numpy.")
        bundle = Bundle(HERE)
        kernels = [x for x in bundle.manifest["kernels"] if any(fnmatch.fnmatch(x["name"], y) for y in given.kernels)]
        if given.list or not kernels:
            print("\n".join(map(described, kernels or bundle.manifest["kernels"])))
            return 0 if kernels else 2
        about = {"python": platform.python_version(), "numpy": np.__version__}
        gpu = None if given.cpu else Gpu()
        if gpu and not all("ptx" in x for x in kernels):
            raise MissingError("the bundle has CUDA sources only. Write it without --sources-only.")
        if given.output:
            given.output.mkdir(parents=True, exist_ok=True)
        folder = writable(*([given.output] if given.output else [HERE, Path.cwd()]))
        report = Report(folder, bundle, {**(gpu.about if gpu else {"device": platform.machine()}), **about})
        if gpu:
            watch = threading.Timer(given.seconds + 30.0 - (time.monotonic() - start), stop, [report])
            watch.daemon = True
            watch.start()
            on_gpu(gpu, bundle, kernels, report, start + given.seconds)
        else:
            on_cpu(bundle, kernels, report)
    except MissingError as error:
        print(f"Nothing was measured: {error}")
        if not given.cpu:
            print("With a C++ compiler, `python run.py --cpu` checks the same sources on this processor.")
        return 0
    print(f"\n{report.table()}\n\nresults.json and results.md are in {report.folder}")
    missed = report.missed()
    print(
        f"not within limits: {', '.join(missed)}" if missed else f"all {len(kernels)} kernels are within their limits"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
