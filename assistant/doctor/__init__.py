"""Checks of the device, the house and the cloud; begin with `whole`, which lists them."""
