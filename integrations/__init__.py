"""Clients of and interfaces to the outside world. Imports nothing from `audio` or `assistant`."""
