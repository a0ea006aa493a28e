"""Has a Piper model tell how long each phoneme lasts, without the package `onnx`.

Piper's models compute it and keep it to themselves: it is what their one Ceil node gives (piper's
own `patch_voice_with_alignment` looks for the same node). Here the name of that node's output is
read from the file, and an output of that name is appended to the file's bytes: a field of a
protobuf message that is there twice is merged when it is read, and lists are joined
(https://protobuf.dev/programming-guides/encoding/#last-one-wins).
"""

from collections.abc import Iterator

# Numbers of fields, from onnx.proto3.
_MODEL_GRAPH = 7
_GRAPH_NODE = 1
_GRAPH_OUTPUT = 12
_NODE_OUTPUT = 2
_NODE_TYPE = 4
_VALUE_NAME = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


def durations_output(model: bytes) -> bytes:
    """What to append to a model's bytes, so that the durations are one more output.

    Empty where they are not found, are an output already, or the file is not understood.
    """
    try:
        graphs = [value for number, value in _fields(memoryview(model)) if number == _MODEL_GRAPH]
        names, outputs = set(), set()
        for number, value in (field for graph in graphs for field in _fields(graph)):
            if number == _GRAPH_OUTPUT:
                outputs.update(_texts(value, _VALUE_NAME))
            elif number == _GRAPH_NODE and _texts(value, _NODE_TYPE) == ["Ceil"]:
                names.update(_texts(value, _NODE_OUTPUT))
    except (IndexError, ValueError):
        return b""
    if len(names) != 1 or names & outputs:
        return b""
    name = _field(_VALUE_NAME, names.pop().encode())
    return _field(_MODEL_GRAPH, _field(_GRAPH_OUTPUT, name))


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of each field; the content of a plain number is empty."""
    here = 0
    while here < len(message):
        tag, here = _number(message, here)
        kind = tag & 7
        size = 0
        if kind == _BYTES:
            size, here = _number(message, here)
        elif kind == _VARINT:
            _, here = _number(message, here)
        elif kind in (_FIXED32, _FIXED64):
            here += 4 if kind == _FIXED32 else 8
        else:
            raise ValueError("no protobuf")
        if here + size > len(message):
            raise ValueError("cut off")
        yield tag >> 3, message[here : here + size]
        here += size


def _texts(message: memoryview, wanted: int) -> list[str]:
    return [bytes(value).decode() for number, value in _fields(message) if number == wanted]


def _number(message: memoryview, here: int) -> tuple[int, int]:
    """A variable-length number and where it ends."""
    number = shift = 0
    while True:
        byte = message[here]
        here += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, here
        shift += 7


def _field(number: int, content: bytes) -> bytes:
    return _written(number << 3 | _BYTES) + _written(len(content)) + content


def _written(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)
