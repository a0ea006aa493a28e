"""Voice and wake word models, from the manifest and from the models folder. Start with `shelf`. The
manifest is `models/manifest.toml` at the top of the repository."""
