"""A voice of the size and cost of a Piper voice of medium quality, with random weights: it hums.

No voice can be downloaded where this runs, so its speed stands for theirs, never its sound. What is
matched, by the defaults of piper-tts 1.8.0 (`piper/train/vits`: `config.py`, `models.py`,
`modules.py`, `attentions.py`), is each layer that an exported voice runs, with its shape:

    text encoder     embedding 256 x 192; 6 layers of 2-head attention (4 projections 192 x 192) and
                     a feed-forward part of two convolutions (192 to 768 to 192, kernel 3); then
                     192 to 384
    durations        convolutions of the stochastic predictor as it runs backwards: 192 to 192
                     twice, and 4 times (its own and 3 flows) 3 separable ones of 192, kernel 3
    flow             4 coupling layers: 96 to 192, 4 gated convolutions (192 to 384, kernel 5) and
                     their residuals (192 to 384, the last to 192), 192 to 96
    decoder          192 to 256 (kernel 7); upsampled by 8, 8, 4 (kernels 16, 16, 8) over 128, 64,
                     32 channels, each followed by 3 residual blocks (kernels 3, 5, 7) of two
                     dilated convolutions; to 1 channel (kernel 7)

That makes 15.6 million parameters and 63 MB, as the published medium voices have. Not matched: the
relative positions of the attention (1 728 parameters a layer), the splines of the duration flows
and the masks, which cost little; and the pace of speech, which random weights cannot have: each
sounding phoneme lasts 3 hops of 256 samples and each pad between two of them 2, about what a voice
makes of English. Inputs, output and the one Ceil are those of a Piper voice.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from piper.phoneme_ids import DEFAULT_PHONEME_ID_MAP

RATE = 22_050  # Hz
SYMBOLS = 256
HIDDEN = 192
FILTER = 768
HEADS = 2
ENCODER_LAYERS = 6
FLOWS = 4
UPSAMPLED = ((8, 16, 128), (8, 16, 64), (4, 8, 32))  # rate, kernel, channels
BLOCKS = ((3, (1, 2)), (5, (2, 6)), (7, (3, 12)))  # kernel, dilations


def make_medium_voice(folder: Path, name: str, language: str, seed: int) -> Path:
    """Write the model and its description, and return the model's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.onnx"
    onnx.save(model(seed), path)
    description = {
        "num_symbols": SYMBOLS,
        "num_speakers": 1,
        "audio": {"sample_rate": RATE, "quality": "medium"},
        "espeak": {"voice": language},
        "phoneme_id_map": dict(DEFAULT_PHONEME_ID_MAP),
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
    }
    path.with_name(f"{name}.onnx.json").write_text(json.dumps(description))
    return path


def parameters(path: Path) -> int:
    """Return the number of parameters of a model."""
    tensors = onnx.load(path).graph.initializer
    return sum(int(np.prod(tensor.dims)) for tensor in tensors)


def model(seed: int) -> onnx.ModelProto:
    net = _Net(seed)
    encoded = _encoder(net)
    lengths = _durations(net, encoded)
    stats = net.conv(encoded, HIDDEN, 2 * HIDDEN, 1, gain=0.3)
    mean, deviation = net.split(stats)
    frames = _expanded(net, mean, lengths)
    spread = net.add("Exp", [_expanded(net, deviation, lengths)])
    noise = net.add("RandomNormalLike", [frames])
    loudness = net.add("Gather", ["scales", net.constant(0, np.int64)])
    noise = net.mul(net.mul(noise, spread), loudness)
    latent = net.add("Add", [frames, noise])
    for _ in range(FLOWS):
        latent = _uncoupled(net, latent)
    return net.model(_decoder(net, latent))


class _Net:
    """A graph that grows. Tensors go by their names; a sequence is [1, channels, time]."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []
        self._count = 0

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node and return its output."""
        name = self._name(kind)
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def mul(self, one: str, other: str) -> str:
        return self.add("Mul", [one, other])

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        return self._store(np.array(value, kind))

    def weights(self, *shape: int, fan_in: int, gain: float = 1.0) -> str:
        """Add random weights, scaled so that a signal keeps its level."""
        values = self._random.standard_normal(shape, np.float32) * gain / np.sqrt(fan_in)
        return self._store(values.astype(np.float32))

    def conv(
        self,
        x: str,
        before: int,
        after: int,
        kernel: int,
        dilation: int = 1,
        groups: int = 1,
        gain: float = 1.0,
    ) -> str:
        """Add a convolution that keeps the length."""
        fan_in = before // groups * kernel
        weights = self.weights(after, before // groups, kernel, fan_in=fan_in, gain=gain)
        bias = self._store(np.zeros(after, np.float32))
        pad = dilation * (kernel - 1) // 2
        more = {"dilations": [dilation], "group": groups, "pads": [pad, pad]}
        return self.add("Conv", [x, weights, bias], kernel_shape=[kernel], **more)

    def upsampled(self, x: str, before: int, after: int, kernel: int, rate: int) -> str:
        """Add a transposed convolution to `rate` times the length."""
        weights = self.weights(before, after, kernel, fan_in=before * kernel // rate)
        bias = self._store(np.zeros(after, np.float32))
        pad = (kernel - rate) // 2
        more = {"strides": [rate], "pads": [pad, pad]}
        return self.add("ConvTranspose", [x, weights, bias], kernel_shape=[kernel], **more)

    def normed(self, x: str) -> str:
        """Normalise over the channels."""
        ones = self._store(np.ones(HIDDEN, np.float32))
        zeros = self._store(np.zeros(HIDDEN, np.float32))
        turned = self.add("Transpose", [x], perm=[0, 2, 1])
        normed = self.add("LayerNormalization", [turned, ones, zeros], axis=-1, epsilon=1e-5)
        return self.add("Transpose", [normed], perm=[0, 2, 1])

    def split(self, x: str) -> tuple[str, str]:
        """Return the two halves of the channels."""
        names = [self._name("half"), self._name("half")]
        self._nodes.append(helper.make_node("Split", [x], names, axis=1, num_outputs=2))
        return names[0], names[1]

    def model(self, output: str) -> onnx.ModelProto:
        """Return the whole model, with a Piper voice's inputs and output."""
        info = helper.make_tensor_value_info
        self._nodes.append(helper.make_node("Identity", [output], ["output"]))
        graph = helper.make_graph(
            self._nodes,
            "medium",
            [
                info("input", TensorProto.INT64, [1, "phonemes"]),
                info("input_lengths", TensorProto.INT64, [1]),
                info("scales", TensorProto.FLOAT, [3]),
            ],
            [info("output", TensorProto.FLOAT, [1, 1, 1, "time"])],
            self._tensors,
        )
        opset = [helper.make_opsetid("", 18)]
        made = helper.make_model(graph, opset_imports=opset, ir_version=9)
        onnx.checker.check_model(made)
        return made

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def _store(self, values: NDArray[Any]) -> str:
        name = self._name("tensor")
        self._tensors.append(numpy_helper.from_array(values, name))
        return name


def _encoder(net: _Net) -> str:
    table = net.weights(SYMBOLS, HIDDEN, fan_in=HIDDEN)
    x = net.mul(net.add("Gather", [table, "input"]), net.constant(HIDDEN**0.5))
    x = net.add("Transpose", [x], perm=[0, 2, 1])
    for _ in range(ENCODER_LAYERS):
        x = net.normed(net.add("Add", [x, _attention(net, x)]))
        wide = net.add("Relu", [net.conv(x, HIDDEN, FILTER, 3)])
        x = net.normed(net.add("Add", [x, net.conv(wide, FILTER, HIDDEN, 3)]))
    return x


def _attention(net: _Net, x: str) -> str:
    shape = net.constant([1, HEADS, HIDDEN // HEADS, -1], np.int64)
    query, key, value = (
        net.add("Reshape", [net.conv(x, HIDDEN, HIDDEN, 1), shape]) for _ in range(3)
    )
    query = net.mul(
        net.add("Transpose", [query], perm=[0, 1, 3, 2]),
        net.constant((HIDDEN // HEADS) ** -0.5),
    )
    scores = net.add("Softmax", [net.add("MatMul", [query, key])], axis=-1)
    mixed = net.add("MatMul", [scores, net.add("Transpose", [value], perm=[0, 1, 3, 2])])
    mixed = net.add("Transpose", [mixed], perm=[0, 1, 3, 2])
    flat = net.add("Reshape", [mixed, net.constant([1, HIDDEN, -1], np.int64)])
    return net.conv(flat, HIDDEN, HIDDEN, 1)


def _durations(net: _Net, encoded: str) -> str:
    """Return the hops of each id, [1, 1, ids]: the predictor runs, but its output has no weight."""
    x = _separable(net, net.conv(encoded, HIDDEN, HIDDEN, 1))
    x = net.conv(x, HIDDEN, HIDDEN, 1)
    told = net.add("ReduceMean", [x, net.constant([1], np.int64)], keepdims=1)
    for _ in range(FLOWS - 1):  # the exported predictor leaves one out
        flow = net.add("Add", [net.conv(told, 1, HIDDEN, 1), x])
        flow = net.conv(_separable(net, flow), HIDDEN, 29, 1)
        told = net.add("ReduceMean", [flow, net.constant([1], np.int64)], keepdims=1)
    ids = net.add("Cast", ["input"], to=TensorProto.FLOAT)
    ids = net.add("Unsqueeze", [ids, net.constant([1], np.int64)])
    hops = net.add("Add", [net.add("Sign", [ids]), net.constant(2.0)])
    scale = net.add("Gather", ["scales", net.constant(1, np.int64)])
    hops = net.add("Add", [net.mul(hops, scale), net.mul(told, net.constant(0.0))])
    return net.add("Ceil", [hops])


def _separable(net: _Net, x: str) -> str:
    for layer in range(3):
        y = net.conv(x, HIDDEN, HIDDEN, 3, dilation=3**layer, groups=HIDDEN)
        y = _gelu(net, net.normed(y))
        y = _gelu(net, net.normed(net.conv(y, HIDDEN, HIDDEN, 1)))
        x = net.add("Add", [x, y])
    return x


def _gelu(net: _Net, x: str) -> str:
    bent = net.add("Erf", [net.mul(x, net.constant(0.5**0.5))])
    return net.mul(net.mul(x, net.constant(0.5)), net.add("Add", [bent, net.constant(1.0)]))


def _expanded(net: _Net, x: str, lengths: str) -> str:
    """Repeat each id's column once per hop, by a matrix of ones, as in an exported voice."""
    ends = net.add("CumSum", [lengths, net.constant(2, np.int64)])
    begins = net.add("Sub", [ends, lengths])
    whole = net.add("ReduceMax", [ends], keepdims=0)
    hops = net.add("Range", [net.constant(0.0), whole, net.constant(1.0)])
    hops = net.add("Reshape", [hops, net.constant([1, -1, 1], np.int64)])
    inside = net.add(
        "And", [net.add("GreaterOrEqual", [hops, begins]), net.add("Less", [hops, ends])]
    )
    path = net.add("Cast", [inside], to=TensorProto.FLOAT)  # [1, hops, ids]
    turned = net.add("Transpose", [x], perm=[0, 2, 1])
    return net.add("Transpose", [net.add("MatMul", [path, turned])], perm=[0, 2, 1])


def _uncoupled(net: _Net, latent: str) -> str:
    """Add one reversed coupling layer, and before it the reversal of the channels."""
    order = net.constant(np.arange(HIDDEN)[::-1].copy(), np.int64)
    kept, moved = net.split(net.add("Gather", [latent, order], axis=1))
    x = net.conv(kept, HIDDEN // 2, HIDDEN, 1)
    whole = ""
    for layer in range(4):
        one, other = net.split(net.conv(x, HIDDEN, 2 * HIDDEN, 5))
        gated = net.mul(net.add("Tanh", [one]), net.add("Sigmoid", [other]))
        last = layer == 3
        told = net.conv(gated, HIDDEN, HIDDEN if last else 2 * HIDDEN, 1)
        if not last:
            residual, told = net.split(told)
            x = net.add("Add", [x, residual])
        whole = net.add("Add", [whole, told]) if whole else told
    moved = net.add("Sub", [moved, net.conv(whole, HIDDEN, HIDDEN // 2, 1, gain=0.3)])
    return net.add("Concat", [kept, moved], axis=1)


def _decoder(net: _Net, latent: str) -> str:
    channels = 256
    x = net.conv(latent, HIDDEN, channels, 7)
    for rate, kernel, after in UPSAMPLED:
        x = net.add("LeakyRelu", [x], alpha=0.1)
        x = net.upsampled(x, channels, after, kernel, rate)
        channels = after
        blocks = [_block(net, x, channels, size, dilations) for size, dilations in BLOCKS]
        x = net.add("Sum", blocks)
        x = net.mul(x, net.constant(1 / len(BLOCKS)))
    x = net.conv(net.add("LeakyRelu", [x], alpha=0.01), channels, 1, 7, gain=0.1)
    return net.add("Unsqueeze", [net.add("Tanh", [x]), net.constant([1], np.int64)])


def _block(net: _Net, x: str, channels: int, kernel: int, dilations: tuple[int, ...]) -> str:
    for dilation in dilations:
        y = net.add("LeakyRelu", [x], alpha=0.1)
        y = net.conv(y, channels, channels, kernel, dilation=dilation, gain=0.5)
        x = net.add("Add", [x, y])
    return x
