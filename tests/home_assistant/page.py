"""Fenced blocks of a page of the documentation, with the titles that say what they do."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

Way = Literal["mqtt", "plain"]
_LABELS: dict[str, tuple[Way, ...]] = {"With MQTT": ("mqtt",), "Without MQTT": ("plain",)}
_BOTH: tuple[Way, ...] = ("mqtt", "plain")
_FENCE, _YAML, _TITLE = "```", "```yaml", "### "


@dataclass(frozen=True, slots=True)
class Block:
    """One fence with YAML."""

    title: str  # the heading above it
    ways: tuple[Way, ...]  # in which houses it is meant
    text: str

    @property
    def content(self) -> Any:
        """Return its content as Home Assistant's editor reads it; a secret is its name."""
        return yaml.safe_load(self.text.replace("!secret ", ""))

    @property
    def is_automation(self) -> bool:
        """Return True if it is for the automation editor, not for the configuration or a
        dashboard."""
        return isinstance(self.content, dict) and "triggers" in self.content


def blocks(page: Path) -> Iterator[Block]:
    """Yield all blocks in order.

    The last label in the paragraph before a fence names its connection; a fence without one is
    meant for both.
    """
    title, paragraph = "", ""
    inside: list[str] | None = None
    is_yaml = between = False
    for line in page.read_text().splitlines():
        if inside is not None:
            if line.strip() != _FENCE:
                inside.append(line)
                continue
            if is_yaml:
                yield Block(title, _ways(paragraph), "\n".join(inside) + "\n")
            inside, paragraph = None, ""
        elif line.startswith(_FENCE):
            inside, is_yaml = [], line.strip() == _YAML
        elif line.startswith("#"):
            title, paragraph = line.removeprefix(_TITLE).strip(), ""
        elif line.strip():
            paragraph = line if between else f"{paragraph} {line}"
        between = not line.strip()


def _ways(paragraph: str) -> tuple[Way, ...]:
    place, label = max((paragraph.rfind(label), label) for label in _LABELS)
    return _BOTH if place < 0 else _LABELS[label]
