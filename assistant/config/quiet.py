"""The settings of the hours in which Hearth speaks softly."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from assistant.config.kinds import OptionalTime, Section


class QuietHours(Section):
    """Every day's hours in which nothing is loud; a timer rings as ever."""

    from_: OptionalTime = Field(
        default="",
        alias="from",
        description='When they begin, by the clock on the wall, such as "22:30"; empty: never.',
    )
    to: OptionalTime = Field(
        default="",
        description="When they end; may lie after midnight. The same as `from` is the whole day.",
    )
    volume: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.3,
        description="Meanwhile answers, announcements and tones are no louder than this part of "
        "the voice's own loudness.",
    )

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if bool(self.from_) != bool(self.to):
            raise ValueError("must have both from and to, or neither")
        return self
