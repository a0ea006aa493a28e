"""Speech recognition on the device.

`protocol` has the interfaces. `sphinx` is the built-in English recogniser, which works with a
grammar (`network`) or freely. `folder` loads vosk and sherpa-onnx models. `steady_noise` reduces
noise.
"""
