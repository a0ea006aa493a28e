"""The labels that people have made, and which areas and devices bear them."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Labels:
    """What the label registry knows. The labels of an entity are in `Thing.labels`."""

    names: dict[str, str] = field(default_factory=dict)  # by label id
    borne: dict[str, tuple[str, ...]] = field(default_factory=dict)  # ids, by area or device id

    def create(self, name: str) -> str:
        """A new label; returns its id. Raises ValueError where there is one of that name."""
        if name.casefold() in (known.casefold() for known in self.names.values()):
            raise ValueError(f"The name {name} ({_slug(name)}) is already in use")
        label_id, number = _slug(name), 2
        while label_id in self.names:
            label_id, number = f"{_slug(name)}_{number}", number + 1
        self.names[label_id] = name
        return label_id

    def put(self, owner: str, label_ids: Iterable[str]) -> None:
        """The labels of an area or a device, by its id."""
        self.borne[owner] = tuple(label_ids)

    def of(self, owner: str) -> list[str]:
        """The ids of the labels of an area or a device."""
        return list(self.borne.get(owner, ()))


def _slug(name: str) -> str:
    signs = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(one for one in signs if not unicodedata.combining(one))
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "unknown"
