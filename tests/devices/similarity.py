"""Similarity of two recordings, at their best alignment."""

import numpy as np


def where(heard: bytes, said: bytes) -> int:
    """Return the sample of `heard` at which `said` begins, at the best alignment.

    It is negative if `said` begins before. Both are mono int16 of one rate.
    """
    long = np.frombuffer(heard, np.int16).astype(np.float64)
    short = np.frombuffer(said, np.int16).astype(np.float64)
    room = len(long) + len(short)
    spectrum = np.fft.rfft(long, room) * np.conj(np.fft.rfft(short, room))
    lag = int(np.argmax(np.fft.irfft(spectrum, room)))
    return lag if lag < len(long) else lag - room


def similarity(heard: bytes, said: bytes) -> float:
    """Return the Pearson correlation of two mono int16 recordings at the best alignment.

    1.0 is the same wave at any loudness, about 0 two unrelated ones. Samples of `said` outside of
    `heard` count as silence, so that a cut-off recording scores low.
    """
    long = np.frombuffer(heard, np.int16).astype(np.float64)
    short = np.frombuffer(said, np.int16).astype(np.float64)
    if not long.any() or not short.any():
        return 0.0
    lag = where(heard, said)
    padded = np.concatenate([np.zeros(len(short)), long, np.zeros(len(short))])
    piece = padded[len(short) + lag : 2 * len(short) + lag]
    return 0.0 if not piece.any() else float(np.corrcoef(piece, short)[0, 1])
