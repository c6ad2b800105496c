"""Reading YAML safely: no tags of Python, no anchors, no key twice, no deep nesting."""

from __future__ import annotations

from typing import Any

from ..errors import LoadError

MAX_DEPTH = 20
MAX_BYTES = 1_000_000  # those of robots have some kilobytes; reading takes 10 s per megabyte


def read_yaml(text: bytes, source: str) -> Any:
    """Return what a document holds: dicts, lists, text, numbers.

    Anchors are refused before anything is made of them: nested aliases are what makes a file of a kilobyte fill the
    memory, and no robot description needs one.

    Raises:
        LoadError: It is empty, no YAML, too large or deep, has anchors or a key twice, or several documents.
    """
    import yaml

    if not text.strip():
        raise LoadError(f"{source} is empty. Expected YAML with keys such as closed_loop.")
    if len(text) > MAX_BYTES:
        raise LoadError(f"{source} has {len(text) / 1e6:.0f} MB of YAML. This is no robot.")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise LoadError(f"{source} has anchors or aliases (&, *), which are not read. Write the values out.")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise LoadError(f"{source} has more than {MAX_DEPTH} lists or mappings within each other.")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        _check_keys(root, source)
        return yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise LoadError(f"{source} is not well-formed YAML: {reason}") from None


def _check_keys(node: Any, source: str) -> None:
    """Refuse a key that is given twice: of two statements the first would be lost."""
    seen = set[str]()
    for child in getattr(node, "value", ()) if not isinstance(getattr(node, "value", ""), str) else ():
        key, value = child if isinstance(child, tuple) else (None, child)
        if key is not None:
            if not isinstance(key.value, str):
                raise LoadError(f"{source}: a list or a mapping is used as a key. Keys are words, such as closed_loop.")
            if key.value in seen:
                raise LoadError(f"{source}: the key {key.value!r} is given twice. Keep one.")
            seen.add(key.value)
        _check_keys(value, source)
