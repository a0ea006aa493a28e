"""Clients and servers for the outside world. Imports nothing from `audio` or `assistant`."""
