"""Local speech recognition.

`protocol` contains the interfaces. `sphinx` is the built-in English recogniser, which works with or
without a grammar (`network`). `folder` loads vosk and sherpa-onnx models. `steady_noise` reduces
noise.
"""
