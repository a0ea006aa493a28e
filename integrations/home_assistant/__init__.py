"""Home Assistant's websocket, REST and discovery APIs, independent of the assistant.

Start with `client`, which holds one websocket and the newest `house.House`. `websocket` and `rest`
are the two kinds of connection; `registry`, `picture` and `context` build the picture; `effects`,
`actions` and `runs` determine what scripts, automations and switches do; `assist`, `media`,
`phones` and `mobile_app` use Home Assistant's services; `reasons` words each connection error.
"""
