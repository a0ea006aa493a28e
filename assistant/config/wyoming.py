"""The settings of the satellite that Home Assistant sees by the Wyoming protocol."""

from typing import Self

from pydantic import Field, model_validator

from assistant.config.kinds import Flag, Port, Section


class Wyoming(Section):
    """The box as a satellite in Home Assistant. It needs no token: who reaches it can use it."""

    enabled: Flag = Field(default=False, description="Whether it is served.")
    host: str = Field(
        default="127.0.0.1",
        description='Address to listen on; "0.0.0.0" where Home Assistant runs elsewhere.',
    )
    port: Port = Field(default=10700, description="Port of the satellite.")
    tts_port: Port = Field(
        default=10701, description="Port at which Home Assistant gets Hearth's voice."
    )
    zeroconf: Flag = Field(
        default=True,
        description="Whether the network is told of both, so that Home Assistant offers them; "
        "never of a loopback address.",
    )

    @model_validator(mode="after")
    def _two_ports(self) -> Self:
        if self.port == self.tts_port:
            raise ValueError("must have two ports: port and tts_port are the same")
        return self
