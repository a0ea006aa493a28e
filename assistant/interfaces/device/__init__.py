"""Hearth as a device in Home Assistant, registered with its `mobile_app` integration. Start with
`interface`, which runs the device, and `registration`."""
