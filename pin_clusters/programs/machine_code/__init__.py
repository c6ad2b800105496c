"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process."""

from __future__ import annotations

from .function import Compiled
from .loading import load
from .machine import host, known_processors, lanes_of_host, object_code
from .text import body_text, function_text, loop_text, module_text, rows_text

__all__ = [
    "Compiled",
    "body_text",
    "function_text",
    "host",
    "known_processors",
    "lanes_of_host",
    "load",
    "loop_text",
    "module_text",
    "object_code",
    "rows_text",
]
