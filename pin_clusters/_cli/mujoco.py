"""``mujoco``: print the errors of a tree in MuJoCo, and the correction by ``pc.mujoco.Exact``."""

import numpy as np
from rich.console import Console

from ..studies.in_mujoco import CALLBACK, FILE, InMujoco
from .tables import put, say, table_of

_WORST = 5  # number of joints in the table


def show(result: InMujoco, tree: str, out: Console) -> None:
    worst = np.argsort(-result.torque[FILE], kind="stable")[:_WORST]
    rows = [(f"torque, {result.joints[i]}", *(f"{result.torque[x][i]:.2g} %" for x in (FILE, CALLBACK))) for i in worst]
    rows += [(f"touch-down, {x}", f"{e[FILE]:.2g} %", f"{e[CALLBACK]:.2g} %") for x, e in result.touch.items()]
    before, after = result.seconds[FILE], result.seconds[CALLBACK]
    rows.append(("time of mj_step", f"{1e6 * before:.1f} µs", f"{1e6 * after:.1f} µs ({after / before - 1.0:+.0%})"))
    title = f"{result.robot} in MuJoCo: RMS torque error, % of peak torque; mean error of the impulse at touch-down"
    put(out, table_of(title, "lrr", ("", tree, "with pc.mujoco.Exact"), rows))
    others = f" The other {len(result.joints) - _WORST} joints have smaller errors." * (len(result.joints) > _WORST)
    say(out, f"Motion: {result.motion}, all joints.{others}")
    report = result.report
    say(out, f"Changed entries of the mass matrix: {report.entries}. Groups of rotors: {report.groups}.")
    if report.loops:
        say(out, f"Joints in closed loops: {', '.join(report.loops)}.")
    say(out, f"Not simulated by MuJoCo: {'; '.join(report.left) or 'nothing'}.")
