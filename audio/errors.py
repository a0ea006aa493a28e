"""Errors of the audio package, one class per way to recover.

AudioError
├── InputUnusable   tell the user: this file, device or model can't be used
│   └── Unlisted    close open streams: only then can PortAudio see a newly connected device
├── TookTooLong     tell the user: recognition takes longer than they would wait
└── DeviceLost      retry: a device that worked has disappeared, so reopen it after a pause
"""


class AudioError(Exception):
    """The base class of these errors. `str(error)` is one sentence for the user."""


class InputUnusable(AudioError):
    """A file, device or model can't be used, and a retry wouldn't help."""


class Unlisted(InputUnusable):
    """PortAudio's list lacks the device but may be outdated, and an open stream prevents a
    refresh."""


class TookTooLong(AudioError):
    """Audio could not be recognised within the time limit."""


class DeviceLost(AudioError):
    """A device stopped working or can't be opened. A retry may help."""
