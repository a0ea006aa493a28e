"""The HTTP interface and the console, and fetching pages.

`box` is what programs can see and do; `routes` and `stream` declare the paths under /v1 (`stream`
those that last or speak, such as `/v1/ask`), `paths` turns those rows into routes and OpenAPI,
`api` puts them together, `guard` decides who may. `pages` and `console/` are the page; `fetch`,
`page` and `markup` read somebody else's.
"""
