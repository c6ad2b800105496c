"""Run sweeps over many robots and parameters, on all cores or on several machines; an interrupted sweep can be resumed.

``run`` calls a function once per case through any ``concurrent.futures.Executor``. ``load`` reads results from a
folder.
"""

from ._tables import CaseFailure as CaseFailure
from .engine import load as load
from .engine import run as run
from .pool import InProcess as InProcess
from .pool import Processes as Processes
from .pool import open_executor as open_executor
from .result import Effort as Effort
from .result import SweepError as SweepError
from .result import SweepFolderError as SweepFolderError
from .result import SweepInterrupted as SweepInterrupted
from .result import SweepResult as SweepResult
