"""Audio input and output. Imports nothing from `assistant` or `integrations`."""
