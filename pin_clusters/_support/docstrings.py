"""Shared sections of docstrings, which a decorator inserts when a function is defined.

Shared sections are written as a docstring, such as ``COMMON``, and ``stock(COMMON)`` returns the decorator that inserts
them. The source of a decorated function contains only the entries that are specific to this function. The decorator
adds

- an entry for each argument that the function's docstring does not describe;
- errors that the docstring does not describe (if an error lists arguments in brackets, it is added only to functions
  with one of these arguments);
- all other missing sections, in which ``{name}`` is replaced by the name of the function.

The decorator returns the function itself, so its signature and speed do not change.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_ORDER = ("Args", "Returns", "Raises", "Warns", "References", "Example")

COMMON = """
Args:
    model: Cluster model.
    data: Workspace of the model, from ``model.createData()``.
    q: Configuration of the spanning tree, shape (nq,).
    q0: Configuration of the spanning tree, shape (nq,).
    q1: Configuration of the spanning tree, shape (nq,).
    q2: Configuration of the spanning tree, shape (nq,).
    v: Independent velocity, shape (nv,), [rad/s] or [m/s].
    a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].
    tau: Torque of the independent joints, shape (nv,), [N m] or [N].
    fext: External forces in joint frames, [linear; angular], [N] and [N m]: a list of ``pin.Force`` or an array of
            shape (njoints, 6), one row for each joint of the tree; the universe is the first joint.
    convention: A ``pin.Convention``, accepted for compatibility with Pinocchio; it has no effect.
    out: Output array: contiguous float64 with the shape of the result; it must not overlap the arguments.
    joint_id: Joint id, ``model.getJointId(name)``.
    frame_id: Frame id, ``model.getFrameId(name)``.
    reference_frame: Frame of the result: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

Raises:
    UnknownNameError (joint_id): No such joint exists.
    UnknownNameError (frame_id): No such frame exists.
    ShapeError (q, q0, q1): An array has the wrong size.
    ArgumentTypeError: An argument has the wrong type.
"""
"""Shared docstring entries for functions whose arguments are a cluster model and its state."""

STATE = """
Args:
    model: Cluster model.
    q: Configuration, shape (nq,).
    v: Independent velocity, shape (nv,).
    a: Independent acceleration, shape (nv,).
    tau: Torque, shape (nv,).
    fext: External forces in joint frames, [linear; angular]: one ``pin.Force`` or row for each joint of the tree.
"""
"""Shared docstring entries for reference implementations and baselines."""

STUDY = """
Args:
    model: The robot.
    q: Configurations of the tree, shape (N, nq).
    v: Independent velocities, shape (N, nv).
    a: Independent accelerations, shape (N, nv).
    tau: Torques, shape (N, nv).
    frame: Name of a frame, body or joint of the tree.
    levels: Names of approximation levels; all by default.
    drop_rotors: Whether the approximations omit the mass and inertia of the rotors.
    amplitude: Amplitude of the motion, [rad], or [m] for prismatic joints.
    frequency: Frequency of the motion, [Hz].
    duration: Duration of the motion, [s].
    dt: Time between samples, [s].
    seed: Seed of the random numbers.
    progress: Function that is called repeatedly with (done, total).
"""
"""Shared arguments for functions of ``study`` and ``audit``."""

AS_IN_STUDY = """
Args:
    amplitude: As in ``study.run``.
    frequency: As in ``study.run``.
    duration: As in ``study.run``.
    dt: As in ``study.run``.
    drop_rotors: As in ``study.run``.
"""
"""Shared arguments that the docstring of ``study.run`` describes in more detail."""

AS_PINOCCHIO = """
References:
    Pinocchio's ``{name}`` for the independent joints.
"""
"""Shared reference for functions that correspond to functions of Pinocchio."""


def stock(*texts: str) -> Callable[[F], F]:
    """Return a decorator that adds shared sections to docstrings; later texts override entries of earlier texts.

    The decorator changes only ``__doc__``. It raises ``KeyError`` if an argument of the function has no description.
    """
    common: dict[str, str] = {}
    common_args: dict[str, str] = {}
    common_raises: dict[str, str] = {}
    for text in texts:
        common |= _sections(text)
        common_args |= _entries(common.pop("Args", ""))
        common_raises |= _entries(common.pop("Raises", ""))

    def complete(function: F) -> F:
        if function.__doc__ is None:  # python -OO removes docstrings
            return function
        parameters = [name for name in inspect.signature(function).parameters if name != "self"]
        doc = {title: text.replace("{name}", function.__name__) for title, text in common.items()}
        doc |= _sections(function.__doc__)
        args = common_args | _entries(doc.get("Args", ""))
        own_errors = _entries(doc.get("Raises", ""))
        usual = {}
        for key, text in common_raises.items():
            error, _, having = key.partition(" ")
            if not having or set(having.strip("()").split(", ")) & set(parameters):
                usual[error] = text
        unusual = {error: text for error, text in own_errors.items() if error not in usual}
        doc["Args"] = _joined({name: args[name] for name in parameters})
        doc["Raises"] = _joined(unusual | usual | own_errors)
        sections = [f"{title}:\n{doc[title]}" for title in _ORDER if doc.get(title)]
        function.__doc__ = "\n\n".join([doc[""], *sections]) + "\n"
        return function

    return complete


def _sections(text: str) -> dict[str, str]:
    """Split a docstring into a dict from titles to sections; the text before the sections has the title ``""``."""
    parts = re.split(rf"^({'|'.join(_ORDER)}):\n", inspect.cleandoc(text), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], (part.rstrip() for part in parts[2::2]), strict=True))
    return {"": parts[0].rstrip(), **sections} if parts[0] else sections


def _entries(section: str) -> dict[str, str]:
    parts = re.split(r"^    (\w+(?: \([\w, ]+\))?): ", section, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.rstrip() for part in parts[2::2]), strict=True))


def _joined(entries: dict[str, str]) -> str:
    return "\n".join(f"    {name}: {text}" for name, text in entries.items())
