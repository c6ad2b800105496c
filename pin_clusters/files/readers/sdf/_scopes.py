"""Resolve names and poses in nested models, and poses relative to other frames."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pinocchio as pin

from ....errors import LoadError, did_you_mean
from .._xml import only_child
from ._document import Document
from ._values import flag, placement, text_of

WORLD = "world"
MODEL = "__model__"
MAX_NESTED = 20  # largest nesting depth of models
MAX_RELATIVE = 200  # longest chain of relative poses
KINDS = ("link", "joint", "frame", "model")
RESERVED = (WORLD, "universe")


class Scope:
    """One ``<model>``, with the placements of its links, joints, frames and nested models (the members)."""

    def __init__(
        self, element: ET.Element, version: tuple[int, int], document: Document, parent: "Scope | None" = None
    ) -> None:
        name = element.get("name")
        if not name:
            raise LoadError('A <model> has no name. Every model needs a name: <model name="...">.')
        self.element, self.parent = element, parent
        self.version = document.versions.get(id(element), version)
        self.path: tuple[str, ...] = () if parent is None else (*parent.path, name)  # model names without the outermost
        if len(self.path) > MAX_NESTED:
            raise LoadError(f"models are nested more than {MAX_NESTED} deep. The maximum is {MAX_NESTED}.")
        self.owner = f"model {'::'.join(self.path) or name!r}"
        self.static: bool = flag(element, "static", False, self.owner) or (parent is not None and parent.static)
        self.members: dict[str, ET.Element] = {}
        self.models: dict[str, Scope] = {}
        for child in element:
            if child.tag in KINDS:
                self._add(child, document)
        self._found: dict[str, pin.SE3] = {}
        self._searching: list[str] = []

    def _add(self, child: ET.Element, document: Document) -> None:
        name = child.get("name")
        if not name:
            raise LoadError(f"{self.owner}: a <{child.tag}> has no name. Every {child.tag} needs a name.")
        if name in RESERVED or (name.startswith("__") and name.endswith("__")) or "::" in name:
            raise LoadError(f"{self.owner}: {child.tag} {name!r} has a reserved name. Rename it.")
        if name in self.members:
            raise LoadError(
                f"{self.owner}: {self.members[name].tag} and {child.tag} share the name {name!r}. Rename one of them."
            )
        self.members[name] = child
        if child.tag == "model":
            self.models[name] = Scope(child, self.version, document, self)

    def full(self, name: str) -> str:
        return "::".join((*self.path, name))

    def every(self) -> "Iterator[Scope]":
        yield self
        for scope in self.models.values():
            yield from scope.every()

    def find(self, name: str, owner: str) -> "tuple[Scope, str]":
        """Resolve a name with ``::``; return the scope and the name in that scope, or raise ``LoadError``."""
        scope, last = self, name
        while "::" in last:
            first, _, last = last.partition("::")
            if first not in scope.models:
                raise LoadError(f"{owner}: there is no model {first!r} in {name!r}.{did_you_mean(first, scope.models)}")
            scope = scope.models[first]
        if last in (WORLD, "__root__") or last == MODEL or last in scope.members:
            return scope, last
        raise LoadError(f"{owner}: {name!r} does not exist.{did_you_mean(last, scope.members)}")

    def place(self, name: str, owner: str) -> pin.SE3:
        """Compute the placement of a named frame in the frame of the robot's model, in the pose of the file."""
        scope, last = self.find(name, owner)
        if last in (WORLD, "__root__"):
            top = scope
            while top.parent is not None:
                top = top.parent
            return top.in_world().inverse()
        if last not in scope._found:
            if last in scope._searching:
                circle = " -> ".join([*scope._searching[scope._searching.index(last) :], last])
                raise LoadError(f"{scope.owner}: the relative poses {circle} form a cycle. Break the cycle.")
            if len(scope._searching) > MAX_RELATIVE:
                raise LoadError(f"{scope.owner}: a chain of relative poses is longer than {MAX_RELATIVE}. Shorten it.")
            scope._searching.append(last)
            scope._found[last] = scope._own_place() if last == MODEL else scope._place_of(last)
            scope._searching.pop()
        return scope._found[last]

    def in_world(self) -> pin.SE3:
        pose = only_child(self.element, "pose", self.owner)
        return placement(pose, self.owner)

    def _own_place(self) -> pin.SE3:
        if self.parent is None:
            return pin.SE3.Identity()
        pose = only_child(self.element, "pose", self.owner)
        base = self.parent.place(relative_to(pose, self.owner) or MODEL, self.owner)
        model_pose = base * placement(pose, self.owner)
        anchor = self.element.get("placement_frame")
        if not anchor:
            return model_pose
        # Compute the placement of the anchor frame as if this model were at the origin.
        searching, self._searching, self._found = self._searching, [], {MODEL: pin.SE3.Identity()}
        offset = self.place(anchor, self.owner)
        for scope in self.every():
            scope._found.clear()
        self._searching = searching
        return model_pose * offset.inverse()

    def _place_of(self, name: str) -> pin.SE3:
        element = self.members[name]
        owner = f"{element.tag} {self.full(name)!r}"
        if element.tag == "model":
            return self.models[name].place(MODEL, owner)
        pose = only_child(element, "pose", owner)
        base = relative_to(pose, owner)
        if not base and element.tag == "joint":
            base = text_of(element, "child", owner)
        elif not base and element.tag == "frame":
            base = element.get("attached_to")
        return self.place(base or MODEL, owner) * placement(pose, owner)

    def link(self, name: str, owner: str) -> str:
        scope, visited = self, set[tuple[tuple[str, ...], str]]()
        while True:
            scope, name = scope.find(name, owner)
            if (scope.path, name) in visited:
                raise LoadError(f"{owner}: {name!r} is attached to itself. Break the cycle.")
            visited.add((scope.path, name))
            if name in (WORLD, "__root__"):
                return WORLD
            if name == MODEL:
                name = scope.canonical()
                continue
            element = scope.members[name]
            if element.tag == "link":
                return scope.full(name)
            if element.tag == "model":
                scope, name = scope.models[name], MODEL
            elif element.tag == "joint":
                name = text_of(element, "child", owner)
            else:
                name = element.get("attached_to") or MODEL

    def canonical(self) -> str:
        named = self.element.get("canonical_link")
        if named:
            return named
        links = [name for name, e in self.members.items() if e.tag == "link"]
        if links:
            return links[0]
        for name, scope in self.models.items():
            if any(e.tag == "link" for inner in scope.every() for e in inner.members.values()):
                return f"{name}::{scope.canonical()}"
        raise LoadError(f"{self.owner} has no <link>. A robot needs at least one.")


def relative_to(pose: ET.Element | None, owner: str) -> str | None:
    """Return the frame of ``relative_to``, or None; raise ``LoadError`` for the ambiguous attribute ``frame``."""
    if pose is None:
        return None
    if pose.get("relative_to"):
        return pose.get("relative_to")
    if pose.get("frame"):
        raise LoadError(
            f"{owner}: <pose frame={pose.get('frame')!r}> is ambiguous, because programs interpreted it differently "
            'before SDF 1.7. Write version="1.7" and <pose relative_to=...>.'
        )
    return None
