"""The HTTP interface, the console, and a client that fetches web pages.

`box` defines what programs can see and do, `routes` and `stream` declare the paths under /v1, and
`guard` controls access. `pages` serves the console, whose files are in `console/`. `fetch`, `page`
and `markup` read web pages from the internet.
"""
