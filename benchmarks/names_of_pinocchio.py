"""Which names of Pinocchio `pc` answers without a route, and which names only some of its releases and builds have.

Usage: python benchmarks/names_of_pinocchio.py
           lists the names of the installed release, its modules included, that `pc.name` does not answer: none.
       python benchmarks/names_of_pinocchio.py --write PYTHON [PYTHON ...]
           asks the Pinocchio of other interpreters as well (3.8 and 4.1 are the ends of what is tested), and writes
           what not all of them have to pin_clusters/_support/pinocchio_names.py.
"""

from __future__ import annotations

import argparse
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pinocchio as pin

import pin_clusters as pc

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "pin_clusters" / "pinocchio_names.py"
ASK = "import json, pinocchio as p; print(json.dumps([p.__version__, [n for n in dir(p) if n[0] != '_']]))"
# what a wheel never has: parsers and scalars that Pinocchio is built with or without (their bindings, 3.7)
BUILDS = {
    "with SDFormat": ("buildGeomFromSdf", "buildModelFromSdf"),
    "with its extra library": (
        "reachableWorkspace", "reachableWorkspaceHull", "reachableWorkspaceWithCollisions",
        "reachableWorkspaceWithCollisionsHull",
    ),
    "with CppAD": ("cppad", "cppadcg"),
    "with MPFR": ("mpfr",),
}  # fmt: skip
HEAD = '''"""Names that some releases and builds of Pinocchio have, from 3.8 on, and others have not.

Written by `benchmarks/names_of_pinocchio.py --write`.
"""

'''


def names() -> list[str]:
    """Return the public names of the installed Pinocchio, modules that it does not import by itself included."""
    modules = {module.name for module in pkgutil.iter_modules(pin.__path__)}
    return sorted(name for name in {*dir(pin), *modules} if not name.startswith("_"))


def unanswered() -> list[str]:
    """Return the names of the installed Pinocchio that are neither here nor have a route."""
    found = []
    for name in names():
        try:
            getattr(pc, name)
        except pc.NotAvailableError:
            continue
        except AttributeError:
            found.append(name)
    return found


def table(pythons: list[str]) -> str:
    """Return the module."""
    have: dict[str, set[str]] = {}
    for python in pythons:
        version, own = json.loads(subprocess.check_output([python, "-W", "ignore", "-c", ASK], text=True))
        have[version] = set(own)
    some = set.union(*have.values()) - set.intersection(*have.values())
    where = {name: " and ".join(sorted(v for v, own in have.items() if name in own)) for name in some}
    where |= {name: build for build, own in BUILDS.items() for name in own}
    groups: dict[str, list[str]] = {}
    for name in sorted(where):
        groups.setdefault(where[name], []).append(name)
    text = HEAD + "_GROUPS = {\n"
    for key in sorted(groups):
        text += f'    "{key}": """\n'
        line = ""
        for name in groups[key]:
            if len(line) + len(name) > 105:
                text, line = text + f"        {line.rstrip()}\n", ""
            line += name + " "
        text += f'        {line.rstrip()}\n    """,\n'
    return text + (
        "}\n\nELSEWHERE = {name: where for where, names in _GROUPS.items() for name in names.split()}\n"
        '"""By name: the release, or with what Pinocchio must be built."""\n'
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", nargs="+", metavar="PYTHON")
    given = parser.parse_args().write
    if given:
        TABLE.write_text(table([sys.executable, *given]))
    else:
        bad = unanswered()
        print(f"pinocchio {pin.__version__}: {len(names())} names, {len(bad)} without an answer", *bad, sep="\n")
