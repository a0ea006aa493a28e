"""Audio input and output. This package imports nothing from `assistant` or `integrations`."""
