"""Clients of external services, and the servers that Hearth offers to other programs.

This package imports nothing from `audio` or `assistant`.
"""
