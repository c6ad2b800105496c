"""Robot-specific code: functions for one robot on this processor, made from traces of the kernels.

``robot_functions`` creates a function at its first call, which ``model/cluster_data.py`` makes by default.
``traced_kernels`` lists the kernels that can be replaced. ``module`` writes the code of a function, and ``entry`` adds
an entry point with the signature of the kernel. ``specialise`` is the public ``pc.specialise``, which creates selected
functions of a model in advance.
"""

from .robot_functions import Specialised
from .specialise import specialise

__all__ = ["Specialised", "specialise"]
