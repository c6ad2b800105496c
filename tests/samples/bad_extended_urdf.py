"""A leg as extended URDF, and YAML files beside it that are refused, with words of the message.

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
    "empty": ("", "is empty"),
    "malformed": ("closed_loop: [[a, b]", "not well-formed YAML.*line"),
    "binary": (b"\xff\xfe\x00closed", "not well-formed YAML"),
    "aliases": (LAUGHS, "anchors or aliases"),
    "python": ("closed_loop: !!python/object/apply:os.system ['true']", "not well-formed YAML"),
    "deep": ("closed_loop: " + "[" * 100_000, "more than 20|not well-formed"),
    "huge": ("# " + "x" * 2_000_000, "2 MB"),
    "large": ("# " + "x" * 150_000, r"0\.15 MB"),
    "a long number": ("closed_loop: [" + "9" * 5000 + "]", "a value of 5000 letters"),
    "a long number of another base": ("closed_loop: [0x" + "f" * 5000 + "]", "a value of 5002 letters"),
    "no date": ("closed_loop: [2001-99-99]", "written or tagged as a number.*month.*in quotes"),
    "no time": (PLAIN + "key: 2001-01-01T25:61:61Z", "written or tagged as a number.*hour.*in quotes"),
    "no number": ("closed_loop: !!int x", "written or tagged as a number"),
    "no real number": ("closed_loop: !!float x", "not well-formed YAML"),
    "no truth": ("closed_loop: !!bool x", "written or tagged as a number"),
    "no moment": ("closed_loop: !!timestamp x", "written or tagged as a number"),
    "digits without a number": (PLAIN + "key: 0x_", "written or tagged as a number"),
    "two documents": ("closed_loop: []\n---\nclosed_loop: []", "not well-formed"),
    "key twice": (PLAIN + "type: [6d]\n", "'type' is given twice"),
    "a list as a key": (PLAIN + "? [a, b]\n: c\n", "a list or a mapping is used as a key"),
    "a list": ("[1, 2]", "is not an extended URDF"),
    "nothing known": ("model: x.urdf", "none of the keys"),
    "no list": ("closed_loop: end_a", "closed_loop must be a list"),
    "no pair": ("closed_loop: [[end_a]]", r"closed_loop\[0\] must be two frames"),
    "not text": ("closed_loop: [[1, 2]]", r"closed_loop\[0\] must be names, got 1"),
    "unknown frame": (PLAIN.replace("end_a,", "end_c,"), "no joint, body or frame 'end_c'"),
    "one body": (PLAIN.replace("[end_a, end_b]", "[rocker_link, end_b]"), "both frames are on one body"),
    "too few types": (PLAIN.replace("[3d]", "[3d, 3d]"), "has 1 pairs, but type has 2"),
    "unknown type": (PLAIN.replace("3d", "5d"), "type '5d' is unknown"),
    "too few names": (PLAIN + "joint_name: [wrist]", "joint_name has 1 names, but joint_type has 0"),
    "unknown joint": (PLAIN + "joint_name: [wrst]\njoint_type: [SPHERICAL]", "joint 'wrst' does not exist.*mean 'wri"),
    "joint twice": (PLAIN + "joint_name: [wrist, wrist]\njoint_type: [FIXED, SPHERICAL]", "'wrist' is named twice"),
    "unknown kind": (PLAIN + "joint_name: [wrist]\njoint_type: [UJOINT_XX]", "joint_type 'UJOINT_XX'.*unknown"),
    "rotor": (PLAIN + "rotor_inertia: [1e-5]", "'rotor_inertia' is not read.*pc.Rotor"),
    "misspelt": (PLAIN.replace("closed_loop", "close_loop"), "Did you mean 'closed_loop'"),
    "cannot move": ("closed_loop: [[end_a, ground], [end_b, ground]]", "stays open|cannot move|single pose"),
}  # fmt: skip
