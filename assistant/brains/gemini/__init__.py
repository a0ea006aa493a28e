"""The parts of the brain in `assistant.brains.gemini.brain`."""
