"""A Piper voice of a few hundred bytes, so that the real Piper can be tested without a download.

Every phoneme id sounds for 1024 samples times the length scale, a sine of 120 + 12 * id Hz; id 0 is
silent. Inputs and output are those of a Piper model, and on request its durations, which a Piper
model computes and keeps to itself, and several speakers, who all sound alike.
"""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from piper.phoneme_ids import DEFAULT_PHONEME_ID_MAP

RATE = 22_050  # Hz
SAMPLES_PER_ID = 1024


def make_tiny_voice(
    folder: Path, name: str = "tiny", durations: bool = False, speakers: tuple[str, ...] = ()
) -> Path:
    """Write the model and its description, and return the model's path."""
    path = folder / f"{name}.onnx"
    onnx.save(_model(durations, bool(speakers)), path)
    description = {
        "num_symbols": 256,
        "num_speakers": max(1, len(speakers)),
        "speaker_id_map": {name: number for number, name in enumerate(speakers)},
        "audio": {"sample_rate": RATE},
        "espeak": {"voice": "en-us"},
        "phoneme_id_map": dict(DEFAULT_PHONEME_ID_MAP),
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
    }
    path.with_name(f"{name}.onnx.json").write_text(json.dumps(description))
    return path


def _model(durations: bool, speakers: bool) -> onnx.ModelProto:
    node = helper.make_node
    constants: dict[str, np.ndarray] = {
        "one": np.array(1, np.int64),
        "zero": np.array(0.0, np.float32),
        "step": np.array(1.0, np.float32),
        "base": np.array(120.0, np.float32),
        "slope": np.array(12.0, np.float32),
        "samples": np.array(float(SAMPLES_PER_ID), np.float32),
        "turn": np.array(2 * np.pi / RATE, np.float32),
        "column": np.array([-1, 1], np.int64),
        "shape": np.array([1, 1, 1, -1], np.int64),
    }
    nodes = [
        node("Cast", ["input"], ["ids"], to=TensorProto.FLOAT),
        node("Reshape", ["ids", "column"], ["tall"]),
        node("Gather", ["scales", "one"], ["length"]),
        node("Mul", ["length", "samples"], ["span"]),
        node("Range", ["zero", "span", "step"], ["time"]),
        node("Mul", ["tall", "slope"], ["sloped"]),
        node("Add", ["sloped", "base"], ["hertz"]),
        node("Mul", ["hertz", "turn"], ["speed"]),
        node("Mul", ["speed", "time"], ["phase"]),
        node("Sin", ["phase"], ["waves"]),
        node("Sign", ["tall"], ["mask"]),
        node("Mul", ["waves", "mask"], ["voiced"]),
        node("Reshape", ["voiced", "shape"], ["output"]),
    ]
    if durations:
        # In hops of 256 samples; as in Piper's models, the one Ceil of the graph.
        constants["hops"] = np.array(SAMPLES_PER_ID / 256, np.float32)
        constants["no_slope"] = np.array(0.0, np.float32)
        constants["row"] = np.array([1, 1, -1], np.int64)
        nodes += [
            node("Mul", ["length", "hops"], ["wanted"]),
            node("Mul", ["ids", "no_slope"], ["nothing"]),
            node("Add", ["nothing", "wanted"], ["each"]),
            node("Ceil", ["each"], ["whole"]),
            node("Reshape", ["whole", "row"], ["durations"]),
        ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            info("input", TensorProto.INT64, [1, "phonemes"]),
            info("input_lengths", TensorProto.INT64, [1]),
            info("scales", TensorProto.FLOAT, [3]),
            *([info("sid", TensorProto.INT64, [1])] if speakers else []),
        ],
        [info("output", TensorProto.FLOAT, [1, 1, 1, "time"])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
