"""The Gemini Live brain; begin with `brain`."""
