"""The models that can be downloaded, and those in the models folder."""
