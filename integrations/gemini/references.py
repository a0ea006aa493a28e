"""What `$ref` points to inside one schema. Nothing is ever fetched."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin

_MAX_SEARCHED = 20_000  # places looked at for anchors and ids
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class References:
    """The places of one schema that can be referred to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._named: dict[str, Any] | None = None  # anchors ("#a") and ids; read when first asked

    def resolve(self, ref: str) -> Any:
        """The part of the schema that is meant, or None where it is not in it."""
        base, _, fragment = ref.partition("#")
        document = self._root if not base else self._document(base)
        if not fragment or document is None:
            return document
        if fragment.startswith("/"):
            return resolve_pointer(document, fragment)
        return self._names().get(f"#{fragment}")

    def _document(self, base: str) -> Any:
        """The part whose `$id` is `base`, also as seen from the root's own `$id`."""
        names = self._names()
        return names.get(base, names.get(self._absolute(base)))

    def _absolute(self, name: str) -> str:
        own = self._root.get("$id")
        try:
            return urljoin(own, name) if isinstance(own, str) else name
        except ValueError:  # not a URL at all
            return name

    def _names(self) -> dict[str, Any]:
        if self._named is None:
            self._named = {}
            for node in _nodes(self._root):
                for key in ("$anchor", "$dynamicAnchor"):
                    if isinstance(node.get(key), str):
                        self._named.setdefault(f"#{node[key]}", node)
                for key in ("$id", "id"):  # the latter: draft 4, where "#a" is an anchor
                    if isinstance(node.get(key), str):
                        name = node[key].removesuffix("#")
                        self._named.setdefault(name, node)
                        self._named.setdefault(self._absolute(name), node)
        return self._named


def resolve_pointer(document: Any, pointer: str) -> Any:
    """What `/a/b` points to (RFC 6901, percent-encoded as in a URL), or None."""
    node = document
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key)
        elif isinstance(node, list) and key.isdecimal() and len(key) < 7 and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _nodes(root: Any) -> Iterator[Mapping[Any, Any]]:
    """Every object in a schema, the outer before the inner; each once, also where it is cyclic."""
    waiting, seen = [root], {id(root)}
    for node in waiting:  # grows while it is walked
        if len(waiting) > _MAX_SEARCHED:
            return
        if isinstance(node, dict):
            yield node
        children = node.values() if isinstance(node, dict) else node
        for child in children:
            if isinstance(child, dict | list) and id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
