"""What is kept of our registration with Home Assistant, in a file that only its owner may read."""

import fcntl
import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.domain.clock import Clock

NAME = "device.json"
_LOCK = "device.lock"
_LOOK_AGAIN_S = 0.1
_LOCK_S = 30.0  # another process registers; that takes one request


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """One registration, bound to the Home Assistant that it was made with."""

    identifier: str  # our own name for this box, made once: the same one never makes two devices
    url: str = ""  # home_assistant.url at that time
    webhook_id: str = field(default="", repr=False)  # a secret; "" while not registered
    device_id: str = ""  # in Home Assistant's device registry
    instance_id: str = ""  # of that Home Assistant, "" where it does not tell
    user_id: str = ""  # whose token registered: only this user may open the push channel
    name: str = ""  # as last told
    version: str = ""  # of Hearth, as last told


class DeviceFile:
    """The record on the disk, shared by every process of a data folder."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._folder / NAME

    def read(self) -> DeviceRecord | None:
        """What is kept, None where nothing is. Raises ConfigError where it cannot be read."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            return DeviceRecord(**{key: str(value) for key, value in kept.items()})
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        except (AttributeError, TypeError, ValueError):
            raise ConfigError(
                f"{self.path} is damaged; remove it, and hearth run registers the device anew"
            ) from None

    def write(self, record: DeviceRecord) -> None:
        """Keep it; whatever happens to the power, the old or the new one is there afterwards."""
        aside = self.path.with_suffix(".new")
        try:
            self._make_folder()
            aside.unlink(missing_ok=True)
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(record), file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error

    def forget(self) -> None:
        """Remove it."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from error

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """No other process reads, registers and writes meanwhile. Raises ConfigError."""
        try:
            self._make_folder()
            handle = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            patience = self._clock.monotonic() + _LOCK_S
            while not _taken(handle):
                if self._clock.monotonic() >= patience:
                    raise ConfigError(
                        f"Another hearth process holds {self._folder / _LOCK}; end it, or wait"
                    )
                await self._clock.sleep(_LOOK_AGAIN_S)
            yield
        finally:
            os.close(handle)

    def _make_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path} cannot be used ({error.strerror}); "
            "set assistant.data to a folder that is yours"
        )


def new_record() -> DeviceRecord:
    """A box that was never registered."""
    return DeviceRecord(identifier=secrets.token_hex(16))


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
