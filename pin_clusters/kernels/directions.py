"""Direction of data in kernels: an argument annotated with ``Out`` is written, every other one is only read.

``tests/kernels/test_directions.py`` checks the annotations. The workspace ``work`` is read and written everywhere.
"""

from typing import Any

Out = Any
