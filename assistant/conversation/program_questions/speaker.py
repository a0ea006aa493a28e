"""Whose voice it is that asks and talks for programs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
