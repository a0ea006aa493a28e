"""Errors of sound, one class per way to recover.

AudioError
├── InputUnusable   tell the person: this file, device or model cannot be used
│   └── Unlisted    close what is open: only then can PortAudio see what was plugged in
├── TookTooLong     tell the person: a recogniser would still be busy when nobody waits any more
└── DeviceLost      retry: the device was there and has gone, open it again after a pause
"""


class AudioError(Exception):
    """Root of this package's errors. `str(error)` is one sentence for a person."""


class InputUnusable(AudioError):
    """A file, device or model that will not work however often it is tried."""


class Unlisted(InputUnusable):
    """No such device in PortAudio's list, which may be old: a stream is in the way of a new one."""


class TookTooLong(AudioError):
    """A sound was not recognised in the time that somebody waits for an answer."""


class DeviceLost(AudioError):
    """A device stopped giving or taking sound."""
