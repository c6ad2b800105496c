"""The other compiled methods of ``pc.baselines``, or why one of them has nothing to say about a robot."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ....errors import PinClustersError
from ....model import ClusterModel
from ....verification.timing import Call


def method(
    name: str, model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, **options: Any
) -> tuple[Call | None, str]:
    """Return a call of forward dynamics by a baseline, or None and the reason why it cannot express the robot."""
    module = importlib.import_module(f"....verification.baselines.{name}", __package__)
    try:
        data = module.createData(model, **options)
        module.aba(model, data, q, v, tau)
    except PinClustersError as error:
        return None, f"baselines.{name} cannot express {model.name}: {error}"
    return (module.aba, (model, data, q, v, tau)), ""
