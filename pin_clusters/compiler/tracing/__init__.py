"""Tracing records an algorithm for one robot as a list of operations, by running the kernels on expressions."""

from .functions import FUNCTIONS
from .numbers import labels_of, values_of
from .program import Program
from .trace import trace

__all__ = ["FUNCTIONS", "Program", "labels_of", "trace", "values_of"]
