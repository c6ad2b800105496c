"""Compilers of C and C++ as they are found here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pinocchio as pin
import pytest

C = [name for name in ("gcc", "clang") if shutil.which(name)]
CPP = [name for name in ("g++", "clang++") if shutil.which(name)]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]

needs_c = pytest.mark.skipif(not C, reason="there is no compiler of C (gcc, clang)")
needs_cpp = pytest.mark.skipif(not CPP, reason="there is no compiler of C++ (g++, clang++)")


def run(*command: str | Path, cwd: Path, fails: bool = False) -> str:
    """Run a command; what it says, after a look at its exit code."""
    done = subprocess.run([str(x) for x in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def eigen() -> Path:
    """The headers of Eigen, or a skip."""
    prefix = Path(pin.__file__).resolve().parents[4]
    for folder in (prefix / "include" / "eigen3", Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")):
        if (folder / "Eigen" / "Core").is_file():
            return folder
    pytest.skip("there are no headers of Eigen (pip install cmeel-eigen)")
