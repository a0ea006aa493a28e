"""Clients for Home Assistant's websocket, REST and discovery APIs, independent of the assistant.

Start with `client`, which keeps one websocket open and maintains the newest `house.House`.
`registry`, `picture` and `context` build the house from Home Assistant's data. `effects`, `actions`
and `runs` determine what scripts, automations and switches do.
"""
