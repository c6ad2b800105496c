"""One robot's algorithm as a list of operations: the kernels run once on expressions in place of numbers."""

from .functions import FUNCTIONS
from .numbers import labels_of, values_of
from .program import Program
from .trace import trace

__all__ = ["FUNCTIONS", "Program", "labels_of", "trace", "values_of"]
