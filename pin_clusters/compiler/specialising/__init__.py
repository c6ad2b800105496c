"""Robot-specific code: functions for one robot on this processor, made from traces of the kernels.

``robot_functions`` makes a function at its first call; ``model/cluster_data.py`` calls it by default.
``traced_kernels`` lists the kernels that can be replaced. ``module`` writes the code of a function, and ``entry`` gives
the function the signature of the kernel. ``specialise`` is the public ``pc.specialise``, which makes chosen functions
of a model in advance.
"""

from .robot_functions import Specialised
from .specialise import specialise

__all__ = ["Specialised", "specialise"]
