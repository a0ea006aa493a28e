"""Errors of the audio package, one class per way to recover.

AudioError
├── InputUnusable   tell the person: this file, device or model cannot be used
│   └── Unlisted    close what is open: only then can PortAudio see what was plugged in
├── TookTooLong     tell the person: recognition would outlast the wait for an answer
└── DeviceLost      retry: the device was there and has gone, open it again after a pause
"""


class AudioError(Exception):
    """Base class. `str(error)` is one sentence for a person."""


class InputUnusable(AudioError):
    """A file, device or model cannot be used, and a retry would not help."""


class Unlisted(InputUnusable):
    """PortAudio's list lacks the device but may be old; an open stream prevents a refresh."""


class TookTooLong(AudioError):
    """A recording could not be recognised within the time limit."""


class DeviceLost(AudioError):
    """A device stopped delivering or accepting audio."""
