"""Local speech recognition.

`protocol` contains the interfaces. `sphinx` is the built-in English recogniser, and `folder` loads
vosk and sherpa-onnx models.
"""
