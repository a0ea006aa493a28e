"""Messages whose text was an order in earlier versions, kept until the automation is mended."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.domain.records import SmallValues

NAME = "old_orders"  # under which they are kept
RECENT = timedelta(days=14)  # an automation that sent none for so long counts as mended


class OldOrder(BaseModel):
    """Messages with one of these texts."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=1)
    last: AwareDatetime


_FORM = TypeAdapter(dict[str, OldOrder])


async def note(store: SmallValues, what: str, now: datetime) -> None:
    """Count a message by how its text began ("command_mode"). Raises StoreError."""
    seen = recent(await store.kept(NAME), now)
    count = seen[what].count + 1 if what in seen else 1
    rows = {**seen, what: OldOrder(count=count, last=now)}
    await store.keep(NAME, _FORM.dump_python(rows, mode="json"))


def recent(value: Any, now: datetime) -> Mapping[str, OldOrder]:
    """The messages of the last RECENT, by how their text began; `value`: as the store keeps it."""
    try:
        seen = _FORM.validate_python(value or {})
    except ValidationError:
        return {}
    return {what: one for what, one in seen.items() if now - one.last < RECENT}
