"""A leg as extended URDF, and YAML files beside it that are refused, with names and numbers of the message.

``CASES`` feeds tests/loaders/test_extended_urdf.py and the table in docs/bad_inputs.md (benchmarks/bad_inputs.py).
"""

from __future__ import annotations

from support.urdf_text import link, robot


def fixed(name: str, parent: str, xyz: str) -> str:
    """Return a frame: a link without mass."""
    return (
        f'<joint name="{name}_joint" type="fixed"><origin xyz="{xyz}"/><parent link="{parent}"/>'
        f'<child link="{name}"/></joint><link name="{name}"/>'
    )


def hinge(name: str, parent: str, xyz: str = "0 0 0", axis: str = "0 1 0") -> str:
    return (
        f'<joint name="{name}" type="continuous"><origin xyz="{xyz}"/><parent link="{parent}"/>'
        f'<child link="{name}_link"/><axis xyz="{axis}"/></joint>' + link(f"{name}_link")
    )


LEG = robot(
    link("ground", ""), hinge("crank", "ground"), hinge("coupler", "crank_link", "0 0 0.1"),
    hinge("rocker", "ground", "0.3 0 0"), fixed("end_a", "coupler_link", "0.3 0 0"),
    fixed("end_b", "rocker_link", "0 0 0.1"), hinge("wrist", "rocker_link", "0 0 0.2", "1 0 0"),
)  # fmt: skip
PLAIN = "closed_loop: [[end_a, end_b]]\ntype: [3d]\nname_mot: [rocker]\n"

LAUGHS = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nclosed_loop: [*b, *b, *b, *b]\n"
CASES = {
    "empty": ("", ""),
    "malformed": ("closed_loop: [[a, b]", ""),
    "binary": (b"\xff\xfe\x00closed", ""),
    "aliases": (LAUGHS, ""),
    "Python object": ("closed_loop: !!python/object/apply:os.system ['true']", ""),
    "deep nesting": ("closed_loop: " + "[" * 100_000, "20"),
    "huge": ("# " + "x" * 2_000_000, "2"),
    "large": ("# " + "x" * 150_000, "0.15"),
    "a long number": ("closed_loop: [" + "9" * 5000 + "]", "5000"),
    "a long number of another base": ("closed_loop: [0x" + "f" * 5000 + "]", "5002"),
    "invalid date": ("closed_loop: [2001-99-99]", ""),
    "invalid time": (PLAIN + "key: 2001-01-01T25:61:61Z", ""),
    "invalid integer": ("closed_loop: !!int x", ""),
    "invalid float": ("closed_loop: !!float x", ""),
    "invalid boolean": ("closed_loop: !!bool x", ""),
    "invalid timestamp": ("closed_loop: !!timestamp x", ""),
    "invalid hexadecimal number": (PLAIN + "key: 0x_", ""),
    "two documents": ("closed_loop: []\n---\nclosed_loop: []", ""),
    "key twice": (PLAIN + "type: [6d]\n", "'type'"),
    "a list as a key": (PLAIN + "? [a, b]\n: c\n", ""),
    "a list": ("[1, 2]", "closed_loop 1 2"),
    "nothing known": ("model: x.urdf", "closed_loop name_mot joint_name"),
    "not a list": ("closed_loop: end_a", "closed_loop"),
    "not a pair": ("closed_loop: [[end_a]]", "closed_loop[0]"),
    "not text": ("closed_loop: [[1, 2]]", "closed_loop[0] 1"),
    "unknown frame": (PLAIN.replace("end_a,", "end_c,"), "'end_c'"),
    "one body": (PLAIN.replace("[end_a, end_b]", "[rocker_link, end_b]"), "'rocker'"),
    "too few types": (PLAIN.replace("[3d]", "[3d, 3d]"), "1 2"),
    "unknown type": (PLAIN.replace("3d", "5d"), "'5d'"),
    "too few names": (PLAIN + "joint_name: [wrist]", "joint_name 1 joint_type 0"),
    "unknown joint": (PLAIN + "joint_name: [wrst]\njoint_type: [SPHERICAL]", "'wrst' 'wrist'"),
    "joint twice": (PLAIN + "joint_name: [wrist, wrist]\njoint_type: [FIXED, SPHERICAL]", "'wrist'"),
    "unknown kind": (PLAIN + "joint_name: [wrist]\njoint_type: [UJOINT_XX]", "joint_type 'UJOINT_XX'"),
    "rotor": (PLAIN + "rotor_inertia: [1e-5]", "'rotor_inertia' pc.Rotor"),
    "misspelt": (PLAIN.replace("closed_loop", "close_loop"), "'closed_loop'"),
    "cannot move": ("closed_loop: [[end_a, ground], [end_b, ground]]", "'crank' 'coupler'"),
}  # fmt: skip
