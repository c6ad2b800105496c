"""One wheel with a library of kernels on many Pythons and releases of ``pin``: ``results/platforms.json``.

``python benchmarks/platforms.py WHEEL --python 3.11=PATH --python 3.13=PATH ...`` makes an environment for each Python
with the newest ``pin``, and on ``--others`` with older ones; then it asks for fast calls, runs the reduced tests of
``.ci/pythons``, and times ``pc.aba`` of a robot against ``pin.aba`` of its approximation. Rows of Pythons that are not
named stay as they are, so that machines can be taken one after the other. ``report.py`` writes the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "platforms.json"
ROBOT = "mini_cheetah"
NEWEST, OLDER = "4.1.0", ("3.9.0", "3.8.0")
# as the README says of pin 3
BESIDE_PIN_3 = ("cmeel-urdfdom<5", "cmeel-tinyxml2<11")
TESTS = {
    "calls": ["-m", "not slow", "tests/calls", "tests/native/test_process.py", "tests/native/test_memory.py"],
    "others": ["-m", "jitless and not slow", "tests/algorithms", "tests/inputs", "tests/laws"],
}
ASK = f"""
import json, os, platform, sys, warnings
os.environ["PIN_CLUSTERS_ENGINE"] = "tables"  # the library of the wheel
import numpy as np, pinocchio as pin, pin_clusters as pc
warnings.simplefilter("ignore")
fast = all(type(getattr(pc, name)) is type(len) for name in ("rnea", "aba", "crba", "integrate"))
model = pc.load("{ROBOT}")
data, v = model.createData(), np.ones(model.nv)
pc.aba(model, data, pc.neutral(model), v, v)
lean = not {{"numba", "llvmlite"}} & set(sys.modules)
from pin_clusters.verification import peers as rivals
times = rivals.measure(model).times["aba"]
own, other = (times[name] for name in (rivals.OURS, "Pinocchio, approximate"))
print(json.dumps({{
    "python": platform.python_version(), "pin": pin.__version__, "numpy": np.__version__, "fast": fast, "lean": lean,
    "aba": own.minimum / other.minimum, "us": 1e6 * own.minimum,
}}))
"""


def table(results: dict[str, Any]) -> str:
    """Return the table for the documentation."""
    from report_loops import markdown

    def passed(row: dict[str, Any], kind: str) -> str:
        return ", ".join(str(row[kind][what]) for what in ("passed", "failed", "skipped"))

    head = ["Python", "`pin`", "NumPy", "fast calls", "Numba imported", "calls", "others", "aba / Pinocchio's"]
    rows = [
        [row["python"], row["pin"], row["numpy"], "yes" if row["fast"] else "no", "no" if row["lean"] else "yes",
         passed(row, "calls"), passed(row, "others"), f"{row['aba']:.2f}"]
        for row in results["rows"]
    ]  # fmt: skip
    return (
        f"{markdown(head, rows)}\n\nOne wheel, `{results['wheel']}`, installed on each. Tests: passed, failed, "
        "skipped, of `tests/calls`, and of algorithms, inputs and laws. Last column: `pc.aba` of "
        f"`{ROBOT}` over `pin.aba` of its approximation, least of 25 blocks each, in one process, on a machine that "
        "did other work too."
    )


def environment(python: str, pin: str, wheel: Path, folder: Path) -> Path:
    """Make an environment, or take the one that is there; return its folder of programs."""
    bin = folder / "bin"
    if not bin.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    beside = BESIDE_PIN_3 if pin < "4" else ()
    own = [bin / "python", "-m", "pip", "install", "-q"]
    subprocess.run([*own, "--upgrade", "pip"], check=True)
    subprocess.run([*own, "--no-compile", wheel, f"pin=={pin}", *beside, "pytest", "pytest-xdist"], check=True)
    # a wheel of the same version may be there
    subprocess.run([*own, "--no-compile", "--force-reinstall", "--no-deps", wheel], check=True)
    return bin


def run(bin: Path, arguments: list[str]) -> dict[str, int]:
    """Run tests in the checkout; return how many passed, failed and were skipped."""
    with tempfile.TemporaryDirectory() as work:
        report = Path(work, "report.xml")
        command = [
            bin / "python",
            "-P",
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report}",
        ]
        subprocess.run([*command, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
        total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return {"passed": total - failed - skipped, "failed": failed, "skipped": skipped}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", action="append", default=[], metavar="VERSION=PATH", help="once per Python")
    parser.add_argument("--others", default="3.13", help="where older releases of pin are tried, too")
    parser.add_argument("--environments", type=Path, help="folder in which environments are kept")
    parser.add_argument("--times", action="store_true", help="repeat no tests: what they said stays")
    given = parser.parse_args()
    own = tempfile.TemporaryDirectory()
    folder = given.environments or Path(own.name)
    found = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    for version, path in (text.split("=", 1) for text in given.python):
        for pin in (NEWEST, *(OLDER if version == given.others else ())):
            bin = environment(path, pin, given.wheel.resolve(), folder / f"{version}-pin-{pin}")
            asked = subprocess.run(
                [bin / "python", "-c", ASK], cwd=folder, env={**os.environ, "PIN_CLUSTERS_CACHE": own.name},
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            row = json.loads(asked.stdout)
            same = [x for x in found if (x["python"], x["pin"]) == (row["python"], row["pin"])]
            row |= {kind: same[0][kind] if given.times else run(bin, tests) for kind, tests in TESTS.items()}
            found = [x for x in found if x not in same] + [row]
            print(row, file=sys.stderr, flush=True)
            found.sort(key=lambda x: ([int(part) for part in x["python"].split(".")], x["pin"]))
            RESULTS.write_text(json.dumps({"wheel": given.wheel.name, "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
