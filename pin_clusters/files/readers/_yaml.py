"""Reading YAML safely: no tags of Python, no anchors, no key twice, no deep nesting."""

from typing import Any

from ...errors import LoadError

MAX_DEPTH = 20
MAX_BYTES = 2**17  # those of robots have some kilobytes; reading takes 10 s per megabyte, or more
MAX_LETTERS = 1000  # of a key or a value


def read_yaml(text: bytes, source: str, nodes: bool = False) -> Any:
    """Return what a document holds: dicts, lists, text, numbers; or PyYAML's nodes, which know their lines.

    Anchors are refused before anything is made of them: nested aliases are what makes a file of a kilobyte fill the
    memory, and no robot description needs one.

    Raises:
        LoadError: It is empty, no YAML, too large or deep, has anchors or a key twice, or several documents.
    """
    import yaml

    if not text.strip():
        raise LoadError(f"{source} is empty. Expected YAML: keys and their values.")
    if len(text) > MAX_BYTES:
        raise LoadError(f"{source} has {len(text) / 1e6:.2g} MB of YAML. This is no robot.")

    class Loader(yaml.SafeLoader):
        """Checks every node before it makes the next one."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent) or getattr(self.peek_event(), "anchor", None):
                raise LoadError(f"{source} has anchors or aliases (&, *), which are not read. Write the values out.")
            inner = int(self.check_event(yaml.CollectionStartEvent))
            self.depth += inner
            if self.depth > MAX_DEPTH:
                raise LoadError(f"{source} has more than {MAX_DEPTH} lists or mappings within each other.")
            node = super().compose_node(parent, index)
            self.depth -= inner
            if isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_LETTERS:
                raise LoadError(f"{source} has a key or a value of {len(node.value)} letters. This is no robot.")
            if isinstance(node, yaml.MappingNode):
                _check_keys([key for key, _ in node.value], source)
            return node

    try:
        return (yaml.compose if nodes else yaml.load)(text, Loader=Loader)
    except LoadError:
        raise
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise LoadError(f"{source} is not well-formed YAML: {reason}") from None
    except (
        ValueError,
        LookupError,
        ArithmeticError,
        TypeError,
        AttributeError,
    ) as error:  # whatever PyYAML stumbles over
        raise LoadError(
            f"{source} is not well-formed YAML: a value is written or tagged as a number, date or truth, and is none "
            f"({error}). Write it in quotes."
        ) from None


def _check_keys(keys: list[Any], source: str) -> None:
    """Refuse a key that is given twice: of two statements the first would be lost."""
    seen = set[str]()
    for key in keys:
        if not isinstance(key.value, str):
            raise LoadError(f"{source}: a list or a mapping is used as a key. Keys are words.")
        if key.value in seen:
            raise LoadError(f"{source}, line {key.start_mark.line + 1}: {key.value!r} is given twice. Keep one.")
        seen.add(key.value)
