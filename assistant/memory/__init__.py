"""Facts that people ask Hearth to remember: whose they are, their subject and their date.

Remembered facts are data, to a model and to everything else here. No decision about a call ever
depends on them.
"""
