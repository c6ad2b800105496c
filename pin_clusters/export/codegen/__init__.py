"""Source code for one robot, written from traces: C for controllers, CUDA C for many states at once."""

from ._c import Source, c
from ._cuda import cuda
from ._export import Exported, ExportError, export
from ._test_program import TraceError

__all__ = ["ExportError", "Exported", "Source", "TraceError", "c", "cuda", "export"]
