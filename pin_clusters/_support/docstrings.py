"""Docstrings: what functions have in common is written once, and put in when they are defined.

What functions share is itself written as a docstring, as in ``COMMON``, and makes a decorator: ``stock(COMMON)``. A
decorated function writes only what is its own. It is given

- a line for each of its arguments that it does not describe itself;
- the errors that it does not describe itself; those with a bracket only if it has one of the arguments in the bracket;
- any other section that it does not have, with its own name for ``{name}``.

The function stays as it is: same object, signature and speed.
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
    data: Its workspace.
    q: Configuration of the whole tree, shape (nq,).
    q0: Configuration of the whole tree, shape (nq,).
    q1: Configuration of the whole tree, shape (nq,).
    q2: Configuration of the whole tree, shape (nq,).
    v: Independent velocity, shape (nv,), [rad/s] or [m/s].
    a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].
    tau: Torque of the independent joints, shape (nv,), [N m] or [N].
    fext: External forces in joint frames, [linear; angular], [N] and [N m]: a list of ``pin.Force`` or an array of
        shape (njoints, 6), one per joint of the tree, the universe first.
    convention: A ``pin.Convention``. It says how Pinocchio computes, not what: it is taken and makes no difference.
    out: Where to write the result: contiguous float64 of its shape, apart from the arguments.
    joint_id: ``model.getJointId(name)``.
    frame_id: ``model.getFrameId(name)``.
    reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

Raises:
    UnknownNameError (joint_id): There is no such joint.
    UnknownNameError (frame_id): There is no such frame.
    ShapeError (q, q0, q1): A size is wrong.
    ArgumentTypeError: A type is wrong.
"""
"""What states of a cluster model are."""

STATE = """
Args:
    model: Cluster model.
    q: Configuration, shape (nq,).
    v: Independent velocity, shape (nv,).
    a: Independent acceleration, shape (nv,).
    tau: Torque, shape (nv,).
    fext: External forces in joint frames, [linear; angular]: ``pin.Force`` or rows, one per joint of the tree.
"""
"""What the docstrings of all oracles have in common."""

STUDY = """
Args:
    model: The robot.
    q: Configurations of the tree, shape (N, nq).
    v: Independent velocities, shape (N, nv).
    a: Independent accelerations, shape (N, nv).
    tau: Torques, shape (N, nv).
    frame: Name of a frame, body or joint of the tree.
    rungs: Names of approximations; all by default.
    drop_rotors: Leave the rotors' mass out of the approximations.
    amplitude: [rad], or [m] for prismatic joints.
    frequency: [Hz].
    duration: [s].
    dt: Time between samples, [s].
    seed: Of the random numbers.
    progress: Called with (done, total) now and then.
"""
"""What functions of ``study`` and ``audit`` take."""

AS_IN_STUDY = """
Args:
    amplitude: As in ``study.run``.
    frequency: As in ``study.run``.
    duration: As in ``study.run``.
    dt: As in ``study.run``.
    drop_rotors: As in ``study.run``.
"""
"""The same, where ``study.run`` says more."""

AS_PINOCCHIO = """
References:
    Pinocchio's ``{name}`` for the independent joints.
"""
"""What functions of configurations say."""


def stock(*texts: str) -> Callable[[F], F]:
    """Return a decorator that completes docstrings with sections in the same style; what a later text says wins.

    It changes ``__doc__`` only, and raises ``KeyError`` if nothing describes an argument.
    """
    common: dict[str, str] = {}
    common_args: dict[str, str] = {}
    common_raises: dict[str, str] = {}
    for text in texts:
        common |= _sections(text)
        common_args |= _entries(common.pop("Args", ""))
        common_raises |= _entries(common.pop("Raises", ""))

    def complete(function: F) -> F:
        if function.__doc__ is None:  # python -OO
            return function
        parameters = [name for name in inspect.signature(function).parameters if name != "self"]
        doc = {title: text.replace("{name}", function.__name__) for title, text in common.items()}
        doc |= _sections(function.__doc__)
        args = common_args | _entries(doc.get("Args", ""))
        own = _entries(doc.get("Raises", ""))
        usual = {}
        for key, text in common_raises.items():
            error, _, having = key.partition(" ")
            if not having or set(having.strip("()").split(", ")) & set(parameters):
                usual[error] = text
        unusual = {error: text for error, text in own.items() if error not in usual}
        doc["Args"] = _joined({name: args[name] for name in parameters})
        doc["Raises"] = _joined(unusual | usual | own)
        sections = [f"{title}:\n{doc[title]}" for title in _ORDER if doc.get(title)]
        function.__doc__ = "\n\n".join([doc[""], *sections]) + "\n"
        return function

    return complete


def _sections(text: str) -> dict[str, str]:
    """Split a docstring into its sections, by title; what comes before them has none."""
    parts = re.split(rf"^({'|'.join(_ORDER)}):\n", inspect.cleandoc(text), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], (part.rstrip() for part in parts[2::2]), strict=True))
    return {"": parts[0].rstrip(), **sections} if parts[0] else sections


def _entries(section: str) -> dict[str, str]:
    """Split a section of names with descriptions, by name."""
    parts = re.split(r"^    (\w+(?: \([\w, ]+\))?): ", section, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.rstrip() for part in parts[2::2]), strict=True))


def _joined(entries: dict[str, str]) -> str:
    return "\n".join(f"    {name}: {text}" for name, text in entries.items())
