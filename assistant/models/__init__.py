"""Models of voices and wake words: those that can be downloaded, and those in the models folder.

Begin with `shelf`; the manifest is `models/manifest.toml` at the top of the repository.
"""
