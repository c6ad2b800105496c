"""Import of optional packages at first use."""

import importlib
from types import ModuleType

from ..errors import NotAvailableError

NAMES = {
    "casadi": "CasADi",
    "crocoddyl": "Crocoddyl",
    "gymnasium": "Gymnasium",
    "jax": "JAX",
    "mujoco": "MuJoCo",
    "pink": "Pink",
    "torch": "PyTorch",
    "unisim": "UniSim",
}
"""Display names of optional packages; the keys are the modules of this package that use them."""
_EXTRAS = {"crocoddyl": "control", "gymnasium": "rl", "mujoco_warp": "mjwarp", "pink": "control"}
_WHEELS = {
    "cuda": "'cuda-core[cu13]'",
    "dask": "distributed",
    "mujoco_warp": "mujoco-warp",
    "pink": "pin-pink quadprog",
    "unisim": "unisim-core",
    "viz": "meshcat",
}


def cure(name: str) -> str:
    """Return instructions for installing an optional package or an extra of this package."""
    wheels, extra = _WHEELS.get(name, name), _EXTRAS.get(name, name)
    return f"Install it: pip install {wheels} (from a checkout of this package, also run pip install '.[{extra}]')."


def package(name: str) -> ModuleType:
    """Import an optional package, or raise ``NotAvailableError`` with installation instructions."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotAvailableError(
            f"pc.{name} needs {NAMES[name]}, which cannot be imported ({error}). {cure(name)}"
        ) from None
