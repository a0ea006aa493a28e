"""The HTTP interface, the console, and fetching web pages.

`box` defines what programs can see and do. `routes` and `stream` declare the paths under /v1;
`stream` has the long-running ones and those that speak, such as `/v1/ask`. `paths` turns them into
routes and OpenAPI, `api` combines everything, and `guard` controls access. `pages` and `console/`
are the console. `fetch`, `page` and `markup` read other people's pages.
"""
