"""Pieces of SDF."""

from __future__ import annotations

INERTIAL = (
    "<inertial><pose>{pose}</pose><mass>{mass}</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.025</izz>"
    "<ixy>0.001</ixy><ixz>0.002</ixz><iyz>-0.003</iyz></inertia></inertial>"
)
BODY = INERTIAL.format(pose="0.05 0.02 -0.1 0.3 -0.2 0.1", mass="1.5")


def link(name: str, pose: str = "", inside: str = BODY, relative_to: str = "") -> str:
    attribute = f' relative_to="{relative_to}"' if relative_to else ""
    return f'<link name="{name}">' + (f"<pose{attribute}>{pose}</pose>" if pose else "") + f"{inside}</link>"


def axis(xyz: str = "0 0 1", inside: str = "", tag: str = "axis", expressed_in: str = "") -> str:
    attribute = f' expressed_in="{expressed_in}"' if expressed_in else ""
    return f"<{tag}><xyz{attribute}>{xyz}</xyz>{inside}</{tag}>"


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = axis(), pose: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        + (f"<pose>{pose}</pose>" if pose else "")
        + f"{inside}</joint>"
    )


def gearbox(parent: str, child: str, reference: str, ratio: str, first: str = "0 0 1", second: str = "0 0 1") -> str:
    """Return a gearbox between two links."""
    inside = axis(first) + axis(second, tag="axis2")
    inside += f"<gearbox_ratio>{ratio}</gearbox_ratio>"
    inside += f"<gearbox_reference_body>{reference}</gearbox_reference_body>"
    return joint("gears", parent, child, "gearbox", inside)


def model(*parts: str, version: str = "1.7", name: str = "robot", attributes: str = "") -> str:
    return f'<sdf version="{version}"><model name="{name}" {attributes}>{"".join(parts)}</model></sdf>'
