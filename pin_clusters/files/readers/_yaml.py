"""Safe reading of YAML: no Python tags, no anchors, no duplicate keys, limited depth and size."""

from typing import Any

from ...errors import LoadError

MAX_DEPTH = 20
MAX_BYTES = 2**17  # Robot files have a few kilobytes; reading takes at least 10 s per megabyte.
MAX_LETTERS = 1000  # maximum number of characters of a key or a value


def read_yaml(text: bytes, source: str, nodes: bool = False) -> Any:
    """Parse a document to dicts, lists, text and numbers or, if ``nodes`` is True, to PyYAML's nodes with line numbers.

    Anchors are rejected before they are expanded, because nested aliases can fill the memory.
    """
    import yaml

    if not text.strip():
        raise LoadError(f"{source} is empty. Expected YAML: keys and their values.")
    if len(text) > MAX_BYTES:
        raise LoadError(f"{source} has {len(text) / 1e6:.2g} MB of YAML. The limit is {MAX_BYTES / 1e6:.2g} MB.")

    class Loader(yaml.SafeLoader):
        """A loader that checks every node before the next node is composed."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent) or getattr(self.peek_event(), "anchor", None):
                raise LoadError(f"{source} has anchors or aliases (&, *). Write the values in full.")
            inner = int(self.check_event(yaml.CollectionStartEvent))
            self.depth += inner
            if self.depth > MAX_DEPTH:
                raise LoadError(f"{source}: lists or mappings are nested more than {MAX_DEPTH} deep.")
            node = super().compose_node(parent, index)
            self.depth -= inner
            if isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_LETTERS:
                raise LoadError(
                    f"{source} has a key or value of {len(node.value)} characters. The maximum is {MAX_LETTERS}."
                )
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
    ) as error:  # PyYAML raises these for invalid scalars.
        raise LoadError(
            f"{source} is not well-formed YAML: a value looks like a number, date or boolean (or has such a tag), but "
            f"is invalid ({error}). Correct the value, or put text in quotes."
        ) from None


def _check_keys(keys: list[Any], source: str) -> None:
    """Raise ``LoadError`` for duplicate keys, because PyYAML would keep only the last of them."""
    names = set[str]()
    for key in keys:
        if not isinstance(key.value, str):
            raise LoadError(f"{source}: a list or a mapping is used as a key. Keys must be text.")
        if key.value in names:
            raise LoadError(f"{source}, line {key.start_mark.line + 1}: the key {key.value!r} appears twice. Keep one.")
        names.add(key.value)
