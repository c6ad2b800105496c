"""The build hook: with ``PIN_CLUSTERS_BUILD`` the wheel has the kernels in machine code, else it is pure Python.

Environment:
    PIN_CLUSTERS_BUILD: ``native``: for the processor that builds; or levels, with commas: ``x86-64-v2``, ``x86-64-v3``,
        ``x86-64-v4``, or ``all`` of them.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# the version whose methods the build replaces
REQUIRES = ["numba==0.68.1", "numpy>=2"]


def _load(name: str) -> Any:
    """Import a module by its file: the package around it needs Pinocchio."""
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def levels(asked: str) -> list[str]:
    """Return the levels that are asked for.

    Raises:
        ValueError: Something else is asked for, or this is no x86-64.
    """
    processor = _load("native/processor")
    known = list(processor.LEVELS)
    if platform.machine() not in ("x86_64", "AMD64") or not sys.platform.startswith("linux"):
        raise ValueError(
            f"PIN_CLUSTERS_BUILD compiles for Linux on x86-64; this is {sys.platform} on {platform.machine()}. Without "
            "it pin_clusters is installed as pure Python, and Numba compiles."
        )
    if asked == "all":
        return known
    names = [processor.levels()[0] if name == "native" else name for name in asked.replace(" ", "").split(",")]
    if wrong := [name for name in names if name not in known]:
        raise ValueError(
            f"PIN_CLUSTERS_BUILD is {asked!r}, but {wrong[0]!r} is neither native, all, nor of {', '.join(known)}."
        )
    return sorted(set(names), key=known.index)


class KernelsHook(BuildHookInterface):
    """Puts libraries of kernels into the wheel, and makes it one of a platform."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What pip installs to build."""
        return REQUIRES if self._asked() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile."""
        asked = self._asked()
        if not asked:
            return
        compiler = _load("build/compile_library")
        if version == "editable":
            folder = Path(self.root, "pin_clusters", "_engine", "native", "built")
        else:
            self._work = tempfile.mkdtemp()
            folder = Path(self._work)
        for level in levels(asked):
            compiler.build_apart(level, folder)
        if version != "editable":
            build_data["force_include"].update(
                {str(path): f"pin_clusters/_engine/native/built/{path.name}" for path in folder.iterdir()}
            )
        build_data["pure_python"] = False
        # it links to nothing: any glibc will do
        system = "manylinux_2_17_x86_64" if platform.libc_ver()[0] == "glibc" else sysconfig.get_platform()
        build_data["tag"] = f"py3-none-{system.replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what is in the wheel now."""
        if hasattr(self, "_work"):
            shutil.rmtree(self._work, ignore_errors=True)

    def _asked(self) -> str:
        return os.environ.get("PIN_CLUSTERS_BUILD", "").strip() if self.target_name == "wheel" else ""
