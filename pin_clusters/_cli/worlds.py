"""``worlds``: print the speed and the accuracy of many robots that step side by side."""

import numpy as np
from rich.console import Console

from ..model import ClusterModel
from ..studies.world_rates import Rates
from .tables import put, say, table_of


def show(model: ClusterModel, rates: Rates, out: Console) -> None:
    rows = [(f"pc.Worlds, {name}", f"{1e6 * x:.2f}", f"{1.0 / x:,.0f}") for name, x in rates.seconds.items()]
    rows += [(f"MuJoCo, {name}", f"{1e6 * x:.1f}", f"{1.0 / x:,.0f}") for name, x in rates.mujoco.items()]
    heads = "", "µs per step and core", "steps per second and core"
    put(out, table_of(f"{model.name}: time steps on one core, smallest of 15 times", "lrr", heads, rows))
    shares = (0.5, 0.95, 1.0)
    accuracy = [
        (label, *(f"{np.quantile(x, share):.1g}" for share in shares))
        for label, x in (
            ("joint speed, difference to pc.simulate [rad/s or m/s]", rates.differences),
            ("contact laws, residual [m/s]", rates.violation),
        )
        if len(x)
    ]
    put(out, table_of("Accuracy of one time step", "lrrr", ("", "median", "95 %", "largest"), accuracy))
    say(out, f"{rates.operations:,} operations per step, {rates.nbytes:,.0f} bytes per world (float64).")
    if model.closures:
        say(out, f"Largest relative residual of the loops: {rates.residual:.1g}.")
    if rates.failed:
        say(out, f"{rates.failed} worlds failed. Reduce the gains or the time step.")
    for note in rates.notes:
        say(out, note)
