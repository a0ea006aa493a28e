"""Names that Gemini accepts, and the way back to the server's own."""

import re
from collections.abc import Container

from integrations.gemini.subset import is_legal_name

_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_STEM = 56  # characters of a changed argument's name, before a number that makes it unique


def legal_name(name: str) -> str:
    """The nearest name that Gemini accepts for a function: 128 of letters, digits, `_.:-`."""
    if _FUNCTION.fullmatch(name):
        return name
    legal = re.sub(r"[^A-Za-z0-9_.:-]", "_", name)[:128]
    return legal if _FUNCTION.fullmatch(legal) else f"_{legal}"[:128]


class ArgumentNames:
    """The arguments of one tool, of all levels together.

    One map leads back for all levels, so no changed name is another argument's own name anywhere.
    """

    def __init__(self) -> None:
        self.renamed: dict[str, str] = {}  # as declared -> as the server has it
        self._kept: set[str] = set()

    def legal(self, name: str, taken: Container[str], originals: Container[str]) -> str:
        """The name to declare: `taken` are declared beside it, `originals` will be."""
        if is_legal_name(name) and name not in taken and name not in self.renamed:
            self._kept.add(name)
            return name
        stem = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_STEM] or "_"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        legal, number = stem, 1
        while (
            legal in taken
            or legal in originals
            or legal in self._kept
            or self.renamed.get(legal, name) != name
        ):
            number += 1
            legal = f"{stem}_{number}"
        self.renamed[legal] = name
        return legal
