"""Describe the conditions of a measurement: processor, software versions, commit and date."""

import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .... import batch
from ...._support.version import __version__
from ....compiler.entry_points import JIT

UNKNOWN = "unknown"


def machine() -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "lanes": batch.lanes,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pinocchio": pin.__version__,
        "numba": version("numba") if JIT else "off",
        "numpy": np.__version__,
        "pin_clusters": __version__,
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = fields.get("model name", platform.machine())
    family = f"family {fields['cpu family']} model {fields['model']}" if "cpu family" in fields else ""
    return f"{name} ({family})" if family else name


def _commit() -> str:
    root = Path(__file__).resolve().parents[4]
    if not (root / ".git").exists():
        return UNKNOWN
    command = ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
