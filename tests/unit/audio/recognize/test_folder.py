"""Model folders: files determine the kind, and the right calls go to the right package.

The packages are fakes, because their models are not available here. Their interfaces are those of
vosk 0.3.45 and sherpa-onnx 2.0.1; a fake refuses calls in any other form.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from audio.errors import InputUnusable
from audio.recognize.folder import heard_by, open_model_folder
from audio.recognize.protocol import plain_words

SECOND = bytes(32_000)


def lay_out(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


class VoskModel:
    def __init__(self, path: str) -> None:
        if path.endswith("broken"):
            raise Exception("Failed to create a model")  # as vosk does


class VoskDecoder:
    pieces: ClassVar[list[int]] = []

    def __init__(self, model: VoskModel, rate: int) -> None:
        assert rate == 16_000
        self.pieces.clear()

    def AcceptWaveform(self, data: bytes) -> int:  # noqa: N802
        self.pieces.append(len(data))
        return 1 if len(self.pieces) == 3 else 0

    def Result(self) -> str:  # noqa: N802
        return json.dumps({"text": "turn on"})

    def FinalResult(self) -> str:  # noqa: N802
        return json.dumps({"text": "the light"})


@pytest.fixture
def vosk(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(
        Model=VoskModel, KaldiRecognizer=VoskDecoder, SetLogLevel=lambda level: None
    )
    monkeypatch.setitem(sys.modules, "vosk", package)


@pytest.mark.usefixtures("vosk")
def test_vosk_hears_all_parts_in_small_pieces(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "vosk-model-small-es-0.42", "am/final.mdl")
    recognizer = open_model_folder(folder, ["en", "es-MX"])
    assert recognizer.languages == ("es",)
    assert recognizer.transcribe(SECOND + bytes(100)) == "turn on the light"
    assert VoskDecoder.pieces == [3200] * 10 + [100]


@pytest.mark.usefixtures("vosk")
def test_a_model_that_vosk_refuses(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="broken cannot be loaded by vosk"):
        open_model_folder(lay_out(tmp_path / "broken", "final.mdl"), ["en"])


class SherpaStream:
    def __init__(self) -> None:
        self.samples = 0
        self.finished = False
        self.result = SimpleNamespace(text="")

    def accept_waveform(self, rate: int, samples: "np.ndarray[Any, Any]") -> None:
        assert rate == 16_000
        assert samples.dtype == np.float32
        assert np.abs(samples).max() <= 1
        self.samples += len(samples)

    def input_finished(self) -> None:
        self.finished = True


class SherpaModel:
    def __init__(self, kind: str, **arguments: Any) -> None:
        self.kind = kind
        self.files = {
            name: Path(value).name
            for name, value in arguments.items()
            if isinstance(value, str) and "/" in value
        }
        self.language = arguments.get("language")
        self.decoded = 0

    def create_stream(self) -> SherpaStream:
        return SherpaStream()

    def decode_stream(self, stream: SherpaStream) -> None:
        self.decoded += 1
        stream.result.text = f" Turn on the light, {stream.samples}!"

    def is_ready(self, stream: SherpaStream) -> bool:
        assert stream.finished
        return self.decoded < 3

    def get_result(self, stream: SherpaStream) -> str:
        return f"{stream.result.text} {self.decoded}"


class SherpaFactory:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.made: list[SherpaModel] = []

    def __getattr__(self, name: str) -> Any:
        def make(**arguments: Any) -> SherpaModel:
            if "broken" in arguments["tokens"]:
                raise RuntimeError("Load model failed: no graph\nat model.cc:177\n")
            self.made.append(SherpaModel(f"{self._prefix} {name}", **arguments))
            return self.made[-1]

        return make


@pytest.fixture
def sherpa(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    package = SimpleNamespace(
        OfflineRecognizer=SherpaFactory("offline"), OnlineRecognizer=SherpaFactory("online")
    )
    monkeypatch.setitem(sys.modules, "sherpa_onnx", package)
    return package


@pytest.mark.parametrize(
    ("folder", "files", "kind", "chosen"),
    [
        (
            "sherpa-onnx-zipformer-es",
            ["encoder-epoch-9.onnx", "encoder-epoch-9.int8.onnx", "decoder.onnx", "joiner.onnx"],
            "offline from_transducer",
            {
                "encoder": "encoder-epoch-9.int8.onnx",
                "decoder": "decoder.onnx",
                "joiner": "joiner.onnx",
            },
        ),
        (
            "sherpa-onnx-whisper-tiny",
            ["tiny-encoder.onnx", "tiny-decoder.int8.onnx"],
            "offline from_whisper",
            {"encoder": "tiny-encoder.onnx", "decoder": "tiny-decoder.int8.onnx"},
        ),
        (
            "moonshine",
            ["preprocess.onnx", "encode.onnx", "uncached_decode.onnx", "cached_decode.onnx"],
            "offline from_moonshine",
            {
                "preprocessor": "preprocess.onnx",
                "encoder": "encode.onnx",
                "uncached_decoder": "uncached_decode.onnx",
                "cached_decoder": "cached_decode.onnx",
            },
        ),
        ("a-sense-voice", ["model.onnx"], "offline from_sense_voice", {"model": "model.onnx"}),
        ("a-nemo-ctc", ["model.int8.onnx"], "offline from_nemo_ctc", {"model": "model.int8.onnx"}),
    ],
)
def test_sherpa_models_are_told_by_their_files(
    tmp_path: Path,
    sherpa: SimpleNamespace,
    folder: str,
    files: list[str],
    kind: str,
    chosen: dict[str, str],
) -> None:
    recognizer = open_model_folder(lay_out(tmp_path / folder, "tokens.txt", *files), ["es", "en"])
    assert recognizer.languages == ("es",)
    assert recognizer.transcribe(SECOND) == "turn on the light 16000"
    assert recognizer.transcribe(b"") == ""
    (model,) = sherpa.OfflineRecognizer.made
    assert model.kind == kind
    assert model.files == {"tokens": "tokens.txt", **chosen}
    assert model.language == ("es" if kind.endswith("whisper") else None)


def test_a_streaming_sherpa_model_is_drained(tmp_path: Path, sherpa: SimpleNamespace) -> None:
    names = ("tokens.txt", "encoder-1.onnx", "decoder-1.onnx", "joiner-1.onnx")
    folder = lay_out(tmp_path / "sherpa-onnx-streaming-zipformer-en", *names)
    assert open_model_folder(folder, ["en"]).transcribe(SECOND) == "turn on the light 26560 3"
    assert sherpa.OnlineRecognizer.made[0].kind == "online from_transducer"


@pytest.mark.usefixtures("sherpa")
def test_sherpa_models_that_cannot_be_loaded(tmp_path: Path) -> None:
    broken = lay_out(tmp_path / "broken-nemo", "tokens.txt", "model.onnx")
    with pytest.raises(InputUnusable) as caught:
        open_model_folder(broken, ["en"])
    assert str(caught.value) == (
        f"The speech model {broken} cannot be loaded by sherpa-onnx: Load model failed: no graph"
    )
    with pytest.raises(InputUnusable, match="Hearth does not know its file types"):
        open_model_folder(lay_out(tmp_path / "other", "tokens.txt", "model.onnx"), ["en"])


@pytest.mark.parametrize(
    ("files", "package", "sentence"),
    [
        (["am/final.mdl"], "vosk", "needs the package vosk; install it with: pip install vosk"),
        (
            ["tokens.txt", "model.onnx"],
            "sherpa_onnx",
            "needs the package sherpa-onnx; install it with: pip install sherpa-onnx",
        ),
    ],
)
def test_a_package_that_is_missing_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: list[str],
    package: str,
    sentence: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputUnusable, match=sentence):
        open_model_folder(lay_out(tmp_path / "model", *files), ["en"])


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="none does not exist; correct its path"):
        open_model_folder(tmp_path / "none", ["en"])
    with pytest.raises(InputUnusable, match="neither a vosk nor a sherpa-onnx model"):
        open_model_folder(tmp_path, ["en"])


@pytest.mark.parametrize(
    ("name", "wanted", "heard"),
    [
        ("vosk-model-small-es-0.42", ["en", "es"], ("es",)),
        ("sherpa-onnx-zipformer-en_US", ["en", "es"], ("en",)),
        ("bilingual-en-es", ["es-MX", "en", "es"], ("es", "en")),
        ("model", ["es-MX", "en"], ("es",)),
    ],
)
def test_the_name_tells_the_language(name: str, wanted: list[str], heard: tuple[str, ...]) -> None:
    assert heard_by(name, wanted) == heard


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (" Turn on the light! ", "turn on the light"),
        ("¿Está la PUERTA cerrada?", "está la puerta cerrada"),
        ("Set it to 21.5, at 7:30.", "set it to 21.5 at 7:30"),
        ("don't", "don't"),
        ("", ""),
    ],
)
def test_plain_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain
