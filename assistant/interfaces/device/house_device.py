"""The box as a device of Home Assistant, as far as any process knows it: its id."""

import logging
from collections.abc import Mapping
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.interfaces.device.record import DeviceFile

_log = logging.getLogger(__name__)

META_KEY = "io.home-assistant/device_id"  # of an MCP request, since Home Assistant 2026.10


class HouseDevice:
    """Our device as far as it is known: stored by the daemon, read by every process."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.file = DeviceFile(settings.data_folder, clock)
        self.device_id = ""  # in Home Assistant's device registry; "" while there is none
        try:
            record = self.file.read()
        except ConfigError as error:  # all else works without
            _log.warning("%s", error)
            return
        if record is not None and record.url == settings.home_assistant.url:
            self.device_id = record.device_id

    def meta(self) -> Mapping[str, Any] | None:
        """What goes with every request to Home Assistant's own tool server."""
        return {META_KEY: self.device_id} if self.device_id else None
