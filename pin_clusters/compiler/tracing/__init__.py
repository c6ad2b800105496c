"""An algorithm for one robot as a list of operations, recorded by running kernels on expressions."""

from .functions import FUNCTIONS
from .numbers import labels_of, values_of
from .program import Program
from .trace import trace

__all__ = ["FUNCTIONS", "Program", "labels_of", "trace", "values_of"]
