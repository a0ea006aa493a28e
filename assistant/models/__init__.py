"""Voice and wake word models: those in the manifest, and those in the models folder.

Begin with `shelf`. The manifest is `models/manifest.toml` at the top of the repository.
"""
