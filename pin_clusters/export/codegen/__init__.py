"""Source code for one robot from its traced operations: C for controllers, and CUDA C for many states in parallel."""

from ._c import Source, c
from ._cuda import cuda
from ._export import Exported, ExportError, export
from ._test_program import TraceError

__all__ = ["ExportError", "Exported", "Source", "TraceError", "c", "cuda", "export"]
