"""Backup and restore of a device's settings and data. Begin with `contents` and `bring`."""
