"""Robot-specific code: functions that are generated for one robot and this processor from traces of the kernels.

``robot_functions`` generates the code of a function at its first call; ``ClusterData`` uses this code by default.
``traced_kernels`` lists the kernels that can be replaced. ``module`` writes the code of a function, and ``entry`` adds
an entry point with the signature of the kernel. ``specialise`` contains the public function ``pc.specialise``, which
compiles selected functions of a model in advance.
"""

from .robot_functions import Specialised
from .specialise import specialise

__all__ = ["Specialised", "specialise"]
