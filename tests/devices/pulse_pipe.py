"""A stream of mono int16 to or from PulseAudio with its simple API; blocking, without a
callback."""

import ctypes

_PLAYBACK, _RECORD = 1, 2  # pa_stream_direction_t
_S16LE = 3  # PA_SAMPLE_S16LE
_DEFAULT = 0xFFFFFFFF


class _Sample(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_int),
        ("rate", ctypes.c_uint32),
        ("channels", ctypes.c_uint8),
    )


class _Buffer(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint32) for name in ("maxlength", "tlength", "prebuf", "minreq", "fragsize")
    )


class PulsePipe:
    """A stream. Its methods block, and raise RuntimeError if the server is gone.

    Playback never waits for its buffer to fill: what is written too late is dropped, and everything
    after it is on time. `pacat` would play everything later and later.
    """

    def __init__(self, device: str, rate: int, samples: int, *, hears: bool) -> None:
        """`device`: a source if `hears`, else a sink. `samples`: size of its buffer."""
        self._library = ctypes.CDLL("libpulse-simple.so.0")
        self._library.pa_simple_new.restype = ctypes.c_void_p
        self._library.pa_simple_get_latency.restype = ctypes.c_uint64
        sample = _Sample(_S16LE, rate, 1)
        size = 2 * samples
        buffer = _Buffer(_DEFAULT, size, 0, _DEFAULT, size)
        error = ctypes.c_int()
        stream = self._library.pa_simple_new(
            *(None, b"echo path", _RECORD if hears else _PLAYBACK, device.encode(), b"echo path"),
            *(ctypes.byref(sample), None, ctypes.byref(buffer), ctypes.byref(error)),
        )
        if not stream:
            raise RuntimeError(f"PulseAudio gives no stream at {device} ({error.value})")
        self._stream = ctypes.c_void_p(stream)

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        piece = ctypes.create_string_buffer(size)
        self._check(self._library.pa_simple_read(self._stream, piece, ctypes.c_size_t(size), None))
        return piece.raw

    def write(self, pcm: bytes) -> None:
        """Play it when it is due."""
        size = ctypes.c_size_t(len(pcm))
        self._check(self._library.pa_simple_write(self._stream, pcm, size, None))

    @property
    def latency(self) -> float:
        """Return the seconds until the next written sample is heard, or since the next read one
        was."""
        return float(self._library.pa_simple_get_latency(self._stream, None)) / 1e6

    @staticmethod
    def _check(result: int) -> None:
        if result < 0:
            raise RuntimeError("PulseAudio has ended the stream")
