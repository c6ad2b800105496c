"""Comments in generated code."""

import textwrap

from ..._support.version import __version__
from ...model import ClusterModel


def comment(text: str) -> str:
    text = text.replace("*/", "* /").replace("/*", "/ *")
    lines = [piece for line in text.splitlines() for piece in textwrap.wrap(line, 112) or [""]]
    return "/* " + "\n   ".join(lines) + " */\n"


def made_by(model: ClusterModel) -> str:
    return comment(f"Exact dynamics of {_shown(model.name)}, written by pin_clusters {__version__}; do not edit.")


def coordinates(model: ClusterModel) -> str:
    independent = set(model.independent_joints)
    q, v, index = [], [], 0
    for name, joint in list(zip(model.tree.names, model.tree.joints, strict=True))[1:]:
        q.append(_place("q", joint.idx_q, joint.nq, name))
        if name in independent:
            v.append(_place("v", index, joint.nv, name))
            index += joint.nv
    text = (
        "Units are m, rad, s, kg and N; spatial vectors are [linear; angular]; matrices are stored by rows.\n"
        f"q contains all joints: {', '.join(q)}.\nv, a and tau contain the independent joints: {', '.join(v)}."
    )
    return comment(text)


def _place(letter: str, first: int, size: int, name: str) -> str:
    indices = f"{first}" if size == 1 else f"{first}..{first + size - 1}"
    return f"{letter}[{indices}] {_shown(name)}"


def _shown(name: str) -> str:
    """Return a name in ASCII without backslashes; compilers may reject other letters, and a backslash joins lines."""
    return name.encode("ascii", "replace").decode().replace("\\", "/")
