"""``pc.open_robot``: read a robot from a file of any supported format."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import LoadError
from ...model import ClusterModel
from ._arguments import documented, is_xml, read_file
from .descriptions import described
from .extended_urdf import buildModelFromYAML
from .mjcf import buildModelFromMJCF
from .motors import Motors, with_motors
from .sdf import buildModelFromSdf
from .urdf import buildModelFromUrdf

# Readers by the root element of XML; YAML is recognised by its file extension.
READERS: dict[str, Callable[..., ClusterModel]] = {
    "robot": buildModelFromUrdf,
    "mujoco": buildModelFromMJCF,
    "sdf": buildModelFromSdf,
}
YAML = (".yaml", ".yml")
FORMATS = "URDF, URDF+, MJCF, SDF, and the YAML of extended URDF"
ELSEWHERE = {
    ".xacro": "The file is xacro source. Expand it first: xacro robot.xacro > robot.urdf.",
    ".srdf": "An SRDF only extends a URDF. Specify the URDF.",
    ".usd": "USD is not supported. Export URDF or MJCF.",
    ".usda": "USD is not supported. Export URDF or MJCF.",
    ".mjb": "The file is a compiled MuJoCo model. Specify the XML file (mj_saveLastXML writes it).",
}


@documented
def open_robot(
    file: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    motors: Motors | None = None,
) -> ClusterModel:
    """Read a robot from a file of any supported format: URDF, URDF+, MJCF, SDF, or the YAML of extended URDF.

    The root element identifies the format of XML, and the file extension identifies YAML. The function calls
    ``buildModelFromUrdf``, ``buildModelFromMJCF``, ``buildModelFromSdf`` or ``buildModelFromYAML``. See these functions
    for the supported contents and for further arguments.

    Args:
        file: Path of the file, or name of a robot in the package ``robot_descriptions``, if this package is installed.
        root_joint: Joint between the world and the root link, such as ``pin.JointModelFreeFlyer()``; by default, the
            base is fixed or floating as in the file.
        motors: Data of the motors (rotors, gears, limits): path of a ``.motors.yaml`` file, or a mapping with the same
            keys. ``pin-clusters motors FILE`` writes a template. No motor file is read by default.

    Returns:
        The model, in SI units.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.open_robot("agility_cassie/cassie.xml")  # doctest: +SKIP
        >>> model = pc.open_robot("g1_mj_description")  # doctest: +SKIP
    """
    file = described(file)
    model = reader_of(file)(file, root_joint, constraints, q_reference, independent)
    return model if motors is None else with_motors(model, motors)


def reader_of(file: str | os.PathLike[str]) -> Callable[..., ClusterModel]:
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        if path.suffix.lower() in YAML:
            return buildModelFromYAML
        with suppress(OSError):  # read_file raises the error about the path.
            if path.is_dir() and any((path / f"robot{suffix}").is_file() for suffix in YAML):
                return buildModelFromYAML
    if is_xml(file):
        raise LoadError(
            "open_robot needs the path of a file, got XML. For text, use pc.buildModelFromXML (URDF), "
            "pc.buildModelFromMJCF or pc.buildModelFromSdf."
        )
    path, text = read_file(file, "a robot's")
    source = repr(str(path))
    if path.suffix.lower() in ELSEWHERE:
        raise LoadError(f"{source} cannot be read: {ELSEWHERE[path.suffix.lower()]}")
    if not text.strip():
        raise LoadError(f"{source} is empty. Known formats: {FORMATS}.")
    root = _root_element(text)
    if root in READERS:
        return READERS[root]
    if root is None:
        raise LoadError(f"{source} is not XML, and its file extension is not .yaml. Known formats: {FORMATS}.")
    hint = " It is a part of an MJCF; specify the file that includes it." if root == "mujocoinclude" else ""
    raise LoadError(f"{source}: unknown format with the root element <{root}>. Known formats: {FORMATS}.{hint}")


def _root_element(text: bytes) -> str | None:

    class FoundError(Exception):
        pass

    def found(name: str, *_: object) -> None:
        raise FoundError(name)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = found
    try:
        parser.Parse(text, True)
    except FoundError as error:
        return str(error.args[0]).rpartition(" ")[2]
    except expat.ExpatError:
        # The reader of the format raises a better error about invalid XML.
        stripped = text.lstrip(b"\xef\xbb\xbf \t\r\n")
        return next((tag for tag in READERS if b"<" + tag.encode() in stripped[:100_000]), None)
    except (ValueError, LookupError):  # Python does not support the encoding.
        return "robot"
    return None
