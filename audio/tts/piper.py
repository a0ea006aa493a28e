"""Piper as a voice: natural, one neural model per language.

piper-tts is GPL-3.0-or-later: it is imported only when such a voice is made. Hearth runs
without it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audio.errors import InputUnusable
from audio.tts.protocol import Speed, speed_now
from audio.tts.text import plain

THREADS = 2  # more make the wake word stutter on a four-core Pi


class PiperVoice:
    """A Piper voice file (`X.onnx` beside `X.onnx.json`), loaded when it is made.

    It yields one piece per sentence. `speed`: 1.0 is the voice's own, 2.0 twice as fast.
    Raises InputUnusable: no Piper, no such file, or not a voice.
    """

    def __init__(self, model_path: Path, speed: Speed = 1.0) -> None:
        self._path = model_path
        self._voice = _load(model_path)
        self._speed = speed

    @property
    def name(self) -> str:
        return f"piper:{self._path.stem}"

    @property
    def rate(self) -> int:
        return int(self._voice.config.sample_rate)

    def speak(self, text: str) -> Iterator[bytes]:
        line = plain(text)
        if not line:
            return
        from piper import SynthesisConfig

        length_scale = float(self._voice.config.length_scale) / speed_now(self._speed)
        settings = SynthesisConfig(length_scale=length_scale)
        try:
            for chunk in self._voice.synthesize(line, settings):
                yield bytes(chunk.audio_int16_bytes)
        # onnxruntime's and piper's errors share no root of their own; whatever fails in there
        # means that this voice cannot speak this clause.
        except Exception as error:
            raise InputUnusable(
                f"The voice {self._path.name} failed ({type(error).__name__}); "
                "check the file named in voice.models."
            ) from error


def _load(path: Path) -> Any:
    try:
        import onnxruntime
        import piper
    except ImportError as error:
        raise InputUnusable(
            "Piper is not installed; run `pip install piper-tts` "
            'in Hearth\'s environment, or set voice.engine = "espeak".'
        ) from error
    description = path.with_name(path.name + ".json")
    for file in (path, description):
        if not file.is_file():
            raise InputUnusable(f"The voice file {file} is missing; name another in voice.models.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    # Spinning threads would keep two cores busy between the sentences.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors only; they come as exceptions, too
    try:
        config = piper.PiperConfig.from_dict(json.loads(description.read_text("utf-8")))
        session = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    # A broken file shows as one of many errors of json, piper and onnxruntime, without a root.
    except Exception as error:
        raise InputUnusable(
            f"{path} is not a Piper voice ({type(error).__name__}); "
            "download it again or name another in voice.models."
        ) from error
    return piper.PiperVoice(config=config, session=session)
