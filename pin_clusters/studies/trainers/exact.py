"""Write the script that makes a serial tree of MuJoCo exact, and the exact robot that it reads."""

from ..._support import extras
from ...errors import NotAvailableError, PinClustersError
from ...files.readers import buildModelFromXML
from ...files.writers import to_urdf
from ...model import ClusterModel
from ...mujoco import Exact

_SCRIPT = '''\
"""Exact {robot} in MuJoCo, written by pin_clusters. Usage: from {robot}_exact import exact, mj_model."""

from pathlib import Path

import mujoco
import pin_clusters as pc

folder = Path(__file__).parent
model = pc.buildModelFromUrdf(folder / "{robot}_exact.urdf")
mj_model = mujoco.MjModel.from_xml_path(str(folder / "{robot}.xml"))
exact = pc.mujoco.Exact(model, mj_model).install()
'''


def exact_files(model: ClusterModel, base: str, mjcf: str) -> tuple[dict[str, str], str]:
    """Return texts by file name and a note. If ``pc.mujoco.Exact`` rejects the robot, there are no files."""
    try:
        urdf = to_urdf(model)
        files = {f"{base}_exact.urdf": urdf, f"{base}_exact.py": _SCRIPT.format(robot=base)}
        try:
            mujoco = extras.package("mujoco")
        except NotAvailableError:
            return files, f"{base}_exact.py has not been tried, because MuJoCo is not installed."
        Exact(buildModelFromXML(urdf), mujoco.MjModel.from_xml_string(mjcf))
    except PinClustersError as error:
        return {}, f"no script makes this robot exact at run time: {str(error).rstrip('.')}."
    return files, ""
