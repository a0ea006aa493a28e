"""API paths for the house: its devices, their states, and what a tap on one does."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from integrations.web.box import Box
from integrations.web.paths import GONE, STORE, Path
from integrations.web.problems import Name, read_name
from integrations.web.replies import HttpReply, TurnReply
from integrations.web.requests import RateRequest, RatingName, TapRequest

LANGUAGE = Name("language")


class TreatmentReply(HttpReply):
    """The policy's strictest decision about the commands for a device."""

    # It runs; it runs after a yes, with the PIN or after a yes on the phone; it never runs.
    how: Literal["free", "asks", "phone", "pin", "never"]
    why: str  # what Hearth would say, such as its question; "" for nothing
    rule: str  # the rule that decides


class TappedReply(HttpReply):
    """The action of a tap on a device in its present state."""

    action: str  # as in `POST /v1/house/{id}`
    how: Literal["free", "asks", "phone", "pin", "never"]


class RatingChoice(HttpReply):
    """A rating that the owner can give, and its effect."""

    rating: RatingName
    how: Literal["free", "asks", "phone", "pin", "never"]


class ThingReply(HttpReply):
    """A device."""

    id: str
    name: str
    kind: str  # its domain in Home Assistant
    device_class: str | None
    state: str  # "on", "locked"
    says: str  # the state in the language of the reply; "" if it says nothing
    changed: str  # ISO 8601; "" if unknown
    examples: list[str]  # sentences that work
    tap: TappedReply | None  # null: a tap does nothing
    treatment: TreatmentReply | None  # null: there are no commands for it
    rating: RatingName | None = None  # the owner's rating; for administrators only
    # Other ratings have no effect. For administrators only.
    choices: Annotated[list[RatingChoice], Field(default_factory=list)]


class RoomReply(HttpReply):
    """A room. The last one has the devices without a room, and no name."""

    name: str | None
    things: list[ThingReply]


class FloorReply(HttpReply):
    """A floor. The last one has the rooms without a floor, and no name."""

    name: str | None
    rooms: list[RoomReply]


class HouseReply(HttpReply):
    """The rooms and devices that Hearth may use."""

    language: str
    notice: str  # says how old the states are; "" while they are live
    floors: list[FloorReply]
    hidden: int  # devices that Hearth may not use


def house_paths(box: Box) -> Sequence[Path]:
    return (
        Path(
            *("GET", "/v1/house", "see", "Get the rooms and devices that Hearth may use."),
            *(lambda call: box.house(call.caller, read_name(call.request, LANGUAGE)), 200),
            HouseReply,
            query=(LANGUAGE,),
        ),
        Path(
            *("POST", "/v1/house/{id}", "ask", "Use a device, as a typed command would."),
            *(lambda call: box.tap(call.name, call.wanted, call.caller), 200, TurnReply),
            body=TapRequest,
            problems={**GONE, 409: "Another turn is in progress."},
        ),
        Path(
            *("POST", "/v1/house/{id}/rating", "admin", "Rate a device."),
            *(lambda call: box.rate_device(call.name, call.wanted, call.caller), 204),
            body=RateRequest,
            problems={**GONE, **STORE},
        ),
    )
