"""Direction of data in kernels: arguments annotated with ``Out`` are written; all other arguments are only read.

``tests/kernels/test_directions.py`` checks the annotations. The workspace ``work`` is read and written everywhere.
"""

from typing import Any

Out = Any
