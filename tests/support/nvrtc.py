"""NVRTC as it is found here: machine code for GPUs, without one."""

from __future__ import annotations

import importlib.util
import io
import re
import warnings
from typing import NamedTuple

import pytest

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def found() -> bool:
    try:
        return importlib.util.find_spec("cuda.core") is not None
    except ModuleNotFoundError:
        return False


needs_nvrtc = pytest.mark.skipif(not found(), reason="there is no NVRTC (pip install '.[cuda]', 200 MB)")


class Machine(NamedTuple):
    registers: int
    spilled: int  # bytes written and read
    size: int


def compiled(text: str, architecture: str) -> Machine:
    from cuda.core import Program, ProgramOptions

    log, options = io.StringIO(), ProgramOptions(std="c++17", arch=architecture, ptxas_options="-v")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a missing driver
        made = Program(text, code_type="c++", options=options).compile("cubin", logs=log)
    said = log.getvalue()
    registers = max(int(x) for x in re.findall(r"Used (\d+) registers", said))
    return Machine(registers, sum(int(x) for x in re.findall(r"(\d+) bytes spill", said)), len(made.code))
