"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process."""

from __future__ import annotations

from .function import Compiled, compiled
from .machine import host, known_processors, lanes_of_host, object_code
from .text import function_text, module_text, rows_text

__all__ = [
    "Compiled",
    "compiled",
    "function_text",
    "host",
    "known_processors",
    "lanes_of_host",
    "module_text",
    "object_code",
    "rows_text",
]
