"""This box as a device of Home Assistant: kept, registered once, looked after."""
