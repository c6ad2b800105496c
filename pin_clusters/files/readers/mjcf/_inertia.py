"""Inertias of bodies, from ``<inertial>`` or as the sum over geoms, which are shapes or meshes."""

import math

import numpy as np
import pinocchio as pin

from ...._support.arrays import in_order
from ....errors import InertiaError, LoadError
from .._numbers import LARGEST
from ._bodies import Body, Geom
from ._document import Document
from ._elements import ORIENTATIONS, Element
from ._meshes import Meshes


def read_inertias(document: Document, bodies: list[Body], meshes: Meshes) -> list[pin.Inertia]:
    settings = document.compiler
    rule, groups = settings.inertiafromgeom, settings.inertiagrouprange
    inertias = [pin.Inertia.Zero()]
    for body in bodies[1:]:
        geoms = [g for g in body.geoms if groups[0] <= g.element.group <= groups[1]]
        if (rule == "true" and geoms) or (rule == "auto" and body.inertial is None):
            raw = _parts(_of_geoms(geoms, meshes))
        elif body.inertial is not None:
            raw = _of_element(body.inertial)
        else:
            raw = _parts(pin.Inertia.Zero())
        inertias.append(_mended(document, body, *raw))
    meshes.warn()
    total = settings.settotalmass
    mass = in_order(I.mass for I in inertias)
    if total > 0.0 and mass > 0.0:
        scale = total / mass
        inertias = [pin.Inertia(scale * I.mass, I.lever, scale * I.inertia) for I in inertias]
    return inertias


Raw = tuple[float, np.ndarray, np.ndarray]
"""Mass, centre of mass, and inertia about the centre of mass; the values need not be physical."""


def _parts(inertia: pin.Inertia) -> Raw:
    return inertia.mass, np.array(inertia.lever), np.array(inertia.inertia)


def _of_element(element: Element) -> Raw:
    owner, mass, diagonal, full = element.owner, element.mass, element.diaginertia, element.fullinertia
    if mass is None:
        raise LoadError(f"{owner}: mass is missing. Specify it in kg.")
    if (diagonal is None) == (full is None):
        got_text = "neither" if full is None else "both"
        raise LoadError(f"{owner}: specify either diaginertia or fullinertia, got {got_text}.")
    placement = element.pose
    if full is not None:
        if any(key in element for key in ORIENTATIONS):
            raise LoadError(f"{owner}: fullinertia is in body axes. Remove the orientation of <inertial>.")
        xx, yy, zz, xy, xz, yz = full
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        I = placement.rotation @ np.diag(diagonal) @ placement.rotation.T
    if mass < 0.0:
        raise InertiaError(f"{owner}: mass is {mass:g} kg; it must not be negative.")
    return mass, np.array(placement.translation), I


def _mended(document: Document, body: Body, mass: float, lever: np.ndarray, I: np.ndarray) -> pin.Inertia:
    """Apply the corrections of MuJoCo's compiler; raise ``InertiaError`` if the inertia is still not physical."""
    settings, owner = document.compiler, f"inertia of {body.owner}"
    bound, least = settings.boundmass, settings.boundinertia
    if mass == 0.0 < bound and body.inertial is None:
        # For a body without geoms, MuJoCo uses the body's position in its parent as the centre of mass in the body.
        lever = np.array(body.placement.translation)
    mass = max(mass, bound)
    moments, axes = np.linalg.eigh(I)
    rounding = 1e-12 * float(np.abs(moments).max())
    if moments[0] >= max(least, -rounding) and moments[0] + moments[1] >= moments[2]:
        return pin.Inertia(mass, lever, I)
    bounded = np.maximum(moments, least) if least > 0.0 else moments
    if bounded[0] < -rounding:
        raise InertiaError(f"{owner} is not positive semidefinite: its principal moments are {moments.tolist()}.")
    if bounded[0] + bounded[1] < bounded[2] * (1.0 - 1e-6):
        if not settings.balanceinertia:
            raise InertiaError(
                f"{owner}: the principal moments {bounded.tolist()} are not physical: the sum of any two must be at "
                "least the third. Correct them, or let <compiler balanceinertia='true'/> replace them by their mean."
            )
        bounded = np.full(3, bounded.mean())
    return pin.Inertia(mass, lever, (axes * np.maximum(bounded, 0.0)) @ axes.T)


def _of_geoms(geoms: list[Geom], meshes: Meshes) -> pin.Inertia:
    total = pin.Inertia.Zero()
    for geom in geoms:
        part = _of_geom(geom, meshes)
        if part is not None:
            total = total + part if total.mass > 0.0 else part
    return total


def _of_geom(geom: Geom, meshes: Meshes) -> pin.Inertia | None:
    g, owner = geom.element, geom.element.owner
    mass, density = g.mass, g.density
    if (mass is not None and mass < 0.0) or density < 0.0:
        raise InertiaError(f"{owner}: mass and density must not be negative.")
    kind = g.type
    if kind in ("plane", "hfield") or mass == 0.0 or (mass is None and density == 0.0):
        return None
    shell = g.shellinertia
    if kind == "sdf":
        raise LoadError(f"{owner}: a plugin of MuJoCo computes the inertia of an sdf. Add an <inertial> to its body.")
    if "mesh" in g and "fromto" not in g:
        if kind != "mesh":
            raise LoadError(
                f"{owner}: MuJoCo's compiler fits the size of this {kind} to a mesh, and the inertia of its body "
                "depends on the size. Add an <inertial> to the body, or a size to the geom."
            )
        unit = meshes.unit_density(g.mesh, owner, shell)
    elif kind == "mesh":
        raise LoadError(f"{owner}: type is mesh, but the attribute mesh is missing. Specify a mesh.")
    else:
        size = size_of(g)
        needed = FORMS[kind]
        if len(size) < needed or not (size[:needed] > 0.0).all():
            raise LoadError(f"{owner}: a {kind} needs {needed} positive numbers as size, got {g.given.get('size')!r}.")
        unit = solid(kind, size[:needed], shell, owner)
    placement = geom.frame * g.pose
    if unit.mass < 1.0 / LARGEST**3:
        raise InertiaError(f"{owner}: its volume or area is too small ({unit.mass:g}). Add an <inertial> to its body.")
    scale = density if mass is None else mass / unit.mass
    return placement.act(pin.Inertia(scale * unit.mass, unit.lever, scale * unit.inertia))


def size_of(geom: Element) -> np.ndarray:
    """Return the sizes of a geom other than a mesh: half edges, radii, half lengths; ``fromto`` defines the length."""
    size = geom.size
    if "fromto" in geom and len(size):
        half = 0.5 * np.linalg.norm(geom.fromto[3:] - geom.fromto[:3])
        size = np.array([size[0], half] if geom.type in ("capsule", "cylinder") else [size[0], size[0], half])
    return np.asarray(size)


FORMS = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
"""Count of numbers in the attribute ``size`` of each shape."""


def solid(kind: str, size: np.ndarray, shell: bool, owner: str) -> pin.Inertia:
    """Compute a shape's inertia about its centre for density 1 (per area if ``shell``) and ``size`` as in MJCF."""
    if shell:
        return _shell(kind, size, owner)
    if kind == "box":
        mass = 8.0 * float(np.prod(size))
        x, y, z = size**2
        return _diagonal(mass, np.array([y + z, x + z, x + y]) / 3.0)
    if kind in ("sphere", "ellipsoid"):
        a = np.broadcast_to(size, 3)
        mass = 4.0 / 3.0 * math.pi * float(np.prod(a))
        x, y, z = a**2
        return _diagonal(mass, np.array([y + z, x + z, x + y]) / 5.0)
    r, half = size
    mass = math.pi * r**2 * 2.0 * half
    across, along = mass * (r**2 / 4.0 + half**2 / 3.0), mass * r**2 / 2.0
    if kind == "cylinder":
        return pin.Inertia(mass, np.zeros(3), np.diag([across, across, along]))
    caps = 4.0 / 3.0 * math.pi * r**3  # two half balls with centres of mass 3/8 r beyond the ends
    across += caps * (2.0 / 5.0 * r**2 + half**2 + 0.75 * r * half)
    along += caps * 2.0 / 5.0 * r**2
    return pin.Inertia(mass + caps, np.zeros(3), np.diag([across, across, along]))


def _diagonal(mass: float, per_mass: np.ndarray) -> pin.Inertia:
    return pin.Inertia(mass, np.zeros(3), np.diag(mass * per_mass))


def _shell(kind: str, size: np.ndarray, owner: str) -> pin.Inertia:
    if kind == "sphere":
        r = size[0]
        return _diagonal(4.0 * math.pi * r**2, np.full(3, 2.0 / 3.0 * r**2))
    if kind == "box":
        mass, moments = 0.0, np.zeros(3)
        for i in range(3):  # the two faces normal to axis i
            j, k = (i + 1) % 3, (i + 2) % 3
            area = 8.0 * size[j] * size[k]
            second = np.zeros(3)  # mean square of each coordinate over the faces
            second[[i, j, k]] = size[i] ** 2, size[j] ** 2 / 3.0, size[k] ** 2 / 3.0
            mass += area
            moments += area * (second.sum() - second)
        return pin.Inertia(mass, np.zeros(3), np.diag(moments))
    if kind == "ellipsoid":
        raise LoadError(f"{owner}: an ellipsoid's shell has no closed-form inertia. Add an <inertial> to its body.")
    r, half = size
    side = 4.0 * math.pi * r * half
    across, along = side * (r**2 / 2.0 + half**2 / 3.0), side * r**2
    if kind == "cylinder":
        ends = 2.0 * math.pi * r**2
        across += ends * (r**2 / 4.0 + half**2)
        along += ends * r**2 / 2.0
    else:  # two half spheres with centres of mass r / 2 beyond the ends
        ends = 4.0 * math.pi * r**2
        across += ends * (2.0 / 3.0 * r**2 + half**2 + r * half)
        along += ends * 2.0 / 3.0 * r**2
    return pin.Inertia(side + ends, np.zeros(3), np.diag([across, across, along]))
