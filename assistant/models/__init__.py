"""The models that can be downloaded, and those that lie in the models folder."""
