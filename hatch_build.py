"""Compile ``pin_clusters/_native.c`` if a C compiler is installed; otherwise build the package without the extension.

Environment:
    CC: Command of the compiler, with options. Without it: cc, gcc or clang, then zig or the package ziglang.
    CFLAGS: Further options of the compiler.
    PIN_CLUSTERS_ZIG: ``1`` installs ziglang (100 MB) into the build environment if no compiler is installed.
    PIN_CLUSTERS_PURE: ``1`` builds without the extension.
    PIN_CLUSTERS_MUST_COMPILE: ``1`` raises an error if the extension cannot be built, for releases and tests.
    PIN_CLUSTERS_TARGET: Tag of the wheel if CC compiles for another platform: ``cp311-cp311-macosx_11_0_arm64``.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# -ffp-contract=off keeps results independent of the compiler; casts between structures need -fno-strict-aliasing.
OPTIONS = "-O2 -fPIC -shared -ffp-contract=off -fno-strict-aliasing -DNDEBUG".split()
CURE = (
    "All functions work, but each call takes longer. For full speed install a C compiler and Python's headers (Debian, "
    "Ubuntu: apt-get install gcc python3-dev), or set PIN_CLUSTERS_ZIG=1 to download a compiler, and install again. "
    "`pin-clusters info` shows whether the extension is used."
)


def switched_on(name: str) -> bool:
    """Return whether an environment variable of the build is 1."""
    return os.environ.get(f"PIN_CLUSTERS_{name}") == "1"


def run(command: list[str]) -> tuple[bool, str]:
    """Run a command; return whether it succeeded, and its error output."""
    try:
        done = subprocess.run(command, capture_output=True, errors="replace", check=False)
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, done.stderr.strip()


def compilers() -> list[list[str]]:
    """Return the commands of the installed C compilers, in the order in which they are tried."""
    if os.environ.get("CC"):
        return [shlex.split(os.environ["CC"])]
    found = [[name] for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    # pip hides the packages of the environment from isolated builds by PYTHONPATH, which -I ignores.
    for zig in (["zig"], ["python-zig"], [sys.executable, "-m", "ziglang"], [sys.executable, "-I", "-m", "ziglang"]):
        if run([*zig, "version"])[0]:
            return [*found, [*zig, "cc"]]
    return found


def compile_extension(source: Path, built: Path) -> str:
    """Compile the extension; return the reason if that is not possible, and "" otherwise."""
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        return f"there is no Python.h in {headers} (Debian, Ubuntu: apt-get install python3-dev)"
    found = compilers()
    if not found:
        return "there is no C compiler (cc, gcc, clang, zig)"
    try:
        import numpy as np
    except ImportError:
        return "NumPy's headers are missing (a build without isolation needs numpy>=2 in its environment)"
    options = [*OPTIONS, *shlex.split(os.environ.get("CFLAGS", "")), f"-I{headers}", f"-I{np.get_include()}"]
    if sys.platform == "darwin" or "macosx" in os.environ.get("PIN_CLUSTERS_TARGET", ""):
        options += ["-undefined", "dynamic_lookup"]  # the process that loads the extension has Python's symbols
    for compiler in found:
        compiled, errors = run([*compiler, *options, str(source), "-o", str(built)])
        if compiled:
            return ""
    return f"{shlex.join(compiler)} cannot compile {source.name}:\n{errors}\n"


class CustomBuildHook(BuildHookInterface):
    """Add the extension to a wheel; in an editable installation write it beside the sources."""

    def dependencies(self) -> list[str]:
        """Return what the build environment needs: nothing if nothing can be compiled."""
        if switched_on("PURE"):
            return []
        if compilers():
            return ["numpy>=2"]
        return ["numpy>=2", "ziglang>=0.13"] if switched_on("ZIG") else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are collected."""
        target = os.environ.get("PIN_CLUSTERS_TARGET")
        name = "_native.so" if target else f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
        source = Path(self.root, "pin_clusters", "_native.c")
        built = source.with_name(name)
        if version == "editable":
            built.unlink(missing_ok=True)  # an old extension may not match the sources any more
        else:
            self.folder = tempfile.TemporaryDirectory()
            built = Path(self.folder.name, name)
        if switched_on("PURE"):
            return
        reason = compile_extension(source, built)
        if reason and switched_on("MUST_COMPILE"):
            raise RuntimeError(f"PIN_CLUSTERS_MUST_COMPILE=1, but the C extension cannot be built: {reason}")
        if reason:
            self.app.display_warning(f"pin_clusters is installed without its C extension: {reason}. {CURE}")
        elif version != "editable":
            build_data.update({"tag": target} if target else {"infer_tag": True}, pure_python=False)
            build_data["force_include"][str(built)] = f"pin_clusters/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary files."""
        if version != "editable":
            self.folder.cleanup()
