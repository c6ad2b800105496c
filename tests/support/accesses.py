"""What the functions of the kernels read and write, found in their source.

``python tests/support/accesses.py NAME ...`` prints it for functions of that name, or of a module of that name.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "pin_clusters" / "kernels"
# they are the means of access, or know no tables
MEANS = set(
    "workspace link_workspace tuples memory addresses choices views spatial angles ldl6 jit layout "
    "tree_layout regressor_workspace regressor_layout regressor_views".split()
)
WORKSPACES = ("workspace", "link_workspace", "regressor_workspace")
ARRAY_ACCESS = re.compile(r"(?P<read>get|load\d+)|(?P<write>put|put_apart|put_zeros|put_copy|put_twice|increase)")
CONSTANT = {"index", "params", "numbers"}
# accessors of the workspace whose names are not those of the quantity
QUANTITY = {
    "rotation": "pose", "position": "pose", "axis": "S", "subspace": "S", "moment": "force", "spin_to_U": "U",
    "force_entry": "force",
}  # fmt: skip


class Function:
    """A function of the kernels.

    Attributes:
        node: Its definition.
        parameters: Their names.
        calls: Functions that it calls, with the arguments.
        reads: Quantities of ``work``, arrays, and parameters that say where in ``work``.
        writes: The same.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node
        self.parameters = [a.arg for a in node.args.args]
        self.calls: list[tuple[str, list[ast.expr]]] = []
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self._assigned = {}
        for n in ast.walk(node):
            if isinstance(n, ast.Assign) and len(n.targets) == 1:
                self._assign(n.targets[0], n.value)
        for n in _own(node):
            if isinstance(n, ast.Call):
                self._call(n)
            elif isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in self.parameters:
                self._access(n.value.id, n.slice, write=isinstance(n.ctx, ast.Store))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.IfExp):
            value = value.body
        if isinstance(target, ast.Name):
            self._assigned.setdefault(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for t, v in zip(target.elts, value.elts, strict=True):
                self._assign(t, v)

    def _call(self, call: ast.Call) -> None:
        of_module = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        module = f"{call.func.value.id}." if of_module else ""
        name = call.func.attr if of_module else getattr(call.func, "id", "")
        match = ARRAY_ACCESS.fullmatch(name)
        if match and isinstance(call.args[0], ast.Name):
            self._access(call.args[0].id, call.args[1], write=match["write"] is not None)
        elif (found := quantity(name)) is not None:
            (self.reads if found[0] == "read" else self.writes).add(found[1])
        else:
            self.calls.append((module + name, call.args))

    def _access(self, array: str, at: ast.expr, write: bool) -> None:
        if array in CONSTANT or array not in self.parameters:
            return
        name = array if array != "work" else self._head(at)
        if name:
            (self.writes if write else self.reads).add(name)

    def _head(self, at: ast.expr, depth: int = 0) -> str:
        """Return the name of what an address begins with."""
        while isinstance(at, ast.BinOp):
            at = at.left
        if isinstance(at, ast.Attribute):
            return at.attr.removeprefix("at_") if at.attr != "at" else ""
        if isinstance(at, ast.Name) and at.id in self._assigned and depth < 9:
            return self._head(self._assigned[at.id], depth + 1)
        return at.id if isinstance(at, ast.Name) else ""


def _own(node: ast.AST):
    """Walk a function without the functions inside."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own(child)


def _is_for_numba(node: ast.AST) -> bool:
    """Whether a function makes code, and is none of the kernels."""
    names = [getattr(getattr(d, "func", d), "id", "") for d in getattr(node, "decorator_list", ())]
    return "overload" in names or "intrinsic" in names


def _accessors() -> dict[str, tuple[str, str]]:
    names = []
    texts = [(KERNELS / "tables" / f"{name}.py").read_text() for name in WORKSPACES]
    for node in (node for text in texts for node in ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.args.args[0].arg == "work":
            names.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names += [target.id for target in node.targets[0].elts if isinstance(target, ast.Name)]
    found = {}
    for accessor in names:
        writes = accessor.startswith(("set_", "add_"))
        name = accessor[4:] if writes else accessor
        found[accessor] = ("write" if writes else "read", QUANTITY.get(name, re.sub("_(entry|column)$", "", name)))
    return found


_ACCESSORS = _accessors()


def quantity(accessor: str) -> tuple[str, str] | None:
    """Return whether an accessor reads or writes, and what; None if it is none."""
    return _ACCESSORS.get(accessor)


def functions() -> dict[tuple[str, str], Function]:
    """Return all functions that could work on tables, by module and name, with what they read and write."""
    found: dict[tuple[str, str], Function] = {}
    scopes: dict[str, dict[str, tuple[str, str]]] = {}
    for path in sorted(KERNELS.rglob("*.py")):
        module = path.stem
        if module in MEANS or module == "__init__":
            continue
        tree = ast.parse(path.read_text())
        scope = scopes[module] = {}
        foreign = {id(inner) for node in ast.walk(tree) if _is_for_numba(node) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    source = (node.module or "").rpartition(".")[2]
                    scope[alias.asname or alias.name] = (source, alias.name)
            elif isinstance(node, ast.FunctionDef) and id(node) not in foreign:
                found[module, node.name] = Function(node)
        scope.update({name: (m, name) for m, name in found if m == module})
    changed = True
    while changed:
        changed = False
        for (module, _), f in found.items():
            for name, arguments in f.calls:
                owner, _, called = name.rpartition(".")
                where = (owner, called) if owner else scopes[module].get(called, ("", ""))
                callee = found.get(where)
                if callee is None:
                    continue
                for mine, theirs in ((f.reads, callee.reads), (f.writes, callee.writes)):
                    new = _seen_by_caller(theirs, callee, arguments, f) - mine
                    changed = changed or bool(new)
                    mine |= new
    return found


def _seen_by_caller(names: set[str], callee: Function, arguments: list[ast.expr], caller: Function) -> set[str]:
    """Rename arrays to those that the caller passes; addresses that it passes are its own business."""
    given = dict(zip(callee.parameters, arguments, strict=False))
    found = set()
    for name in names:
        if name not in given:
            found.add(name)
        else:
            head = caller._head(given[name])
            if head and head != "work":
                found.add(head)
    return found - CONSTANT


def described(f: Function) -> str:
    """Return what a function reads and writes, in words."""
    named = (("reads", f.reads), ("writes", f.writes))
    return "\n".join(f"  {verb} {', '.join(sorted(names, key=str.lower))}" for verb, names in named if names)


def main(asked: list[str]) -> None:
    """Print what functions read and write."""
    for (module, name), f in functions().items():
        if not {module, name, f"{module}.{name}"}.isdisjoint(asked):
            print(f"{module}.{name}", described(f), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
