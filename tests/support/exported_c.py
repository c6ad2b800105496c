"""Exported C under sanitizers: ``python tests/support/exported_c.py --calls N``.

Each function gets arrays of exactly its sizes from ``malloc``, so that any access outside of them is found. Their
numbers are usual ones, huge and tiny ones, infinities and NaN. What is computed is checked elsewhere.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pin_clusters as pc
from pin_clusters.export.codegen import _exported_function

FUNCTIONS = {
    "mini_cheetah": ("rnea", "aba", "crba", "step"), "four_bar": ("rnea", "aba", "crba", "step"),
    "tello": ("rnea", "aba", "step"), "ankle_2rsu": ("rnea", "aba", "step"),
}  # fmt: skip
MAIN = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../{robot}.h"

static unsigned long long state = 1;
static double wild(void)
{{
  static const double odd[] = {{0.0, -0.0, 1e-310, 1e16, -1e20, 1e300, -1e308, INFINITY, -INFINITY, NAN}};
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  if ((state >> 33) % 20 == 0) return odd[(state >> 40) % 10];
  return 6.0 * ((double)(state >> 11) / 9007199254740992.0 - 0.5);
}}
static double *filled(int n)
{{
  double *x = malloc(sizeof(double) * (size_t)n);
  int i;
  for (i = 0; i < n; i++) x[i] = wild();
  return x;
}}

int main(int count, char **given)
{{
  long calls = count > 1 ? atol(given[1]) : 1, k;
  for (k = 0; k < calls; k++) {{
{calls}  }}
  return 0;
}}
"""


def call_of(f: Any, robot: str) -> str:
    """One call of a function, with arrays of its own."""
    sizes = [*f.inputs, *((name, math.prod(shape)) for name, shape in f.outputs)]
    arrays = [(name, size) for name, size in sizes if f.is_array(name)]
    made = "".join(f"      double *{name} = filled({size});\n" for name, size in arrays)
    given = ", ".join(name if f.is_array(name) else "wild()" for name, _ in sizes)
    freed = " ".join(f"free({name});" for name, _ in arrays)
    return f"    {{\n{made}      {robot}_{f.name}({given});\n      {freed}\n    }}\n"


def run(name: str, calls: int, folder: Path) -> int:
    """Export, compile and call; return how many calls were made."""
    model = pc.load(name)
    made = _exported_function.functions_of(model, FUNCTIONS[name], None)
    exported = pc.codegen.export(model, folder, FUNCTIONS[name])
    text = MAIN.format(robot=exported.name, calls="".join(call_of(f, exported.name) for f in made))
    (folder / "test" / "wild.c").write_text(text, encoding="ascii")
    flags = ["-O1", "-g", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize=float-divide-by-zero", "-fno-sanitize-recover=undefined"]
    sources = [f"{exported.name}.c", "test/wild.c"]
    subprocess.run([os.environ.get("CC", "cc"), *flags, *sources, "-o", "wild", "-lm"], cwd=folder, check=True)
    each = max(1, calls // len(made))
    subprocess.run(["./wild", str(each)], cwd=folder, check=True)
    return each * len(made)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="of all robots")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    done = 0
    for name in FUNCTIONS:
        with tempfile.TemporaryDirectory() as folder:
            done += run(name, given.calls // len(FUNCTIONS), Path(folder))
    functions = sum(len(x) for x in FUNCTIONS.values())
    print(json.dumps({"calls": done, "functions": functions, "robots": len(FUNCTIONS)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
