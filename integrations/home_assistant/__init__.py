"""Home Assistant's websocket, REST and discovery, without any knowledge of the assistant.

Begin with `client`: one websocket and the newest `house.House`. `websocket` and `rest` are the two
connections; `registry`, `picture` and `context` make the picture; `effects`, `actions` and `runs`
know what scripts, automations and switches do; `assist`, `media`, `phones` and `mobile_app` are
services of the house; `reasons` has a sentence for each way in which it can be out of reach.
"""
