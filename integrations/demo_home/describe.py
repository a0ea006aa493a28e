"""The house as a short text for people."""

from integrations.demo_home.house import DemoHouse, Snapshot


def describe(house: DemoHouse) -> str:
    """A line an area: its name, then each entity and its state; last what stands nowhere."""
    rows: dict[str, list[str]] = {area.name: [] for area in house.areas.values()}
    rows["Elsewhere"] = []
    for snapshot in house.all():
        if snapshot.entity_id.startswith(("script.", "scene.", "camera.")):
            continue
        area = house.area_of(snapshot.entity_id)
        rows[area.name if area else "Elsewhere"].append(
            f"{snapshot.attributes['friendly_name']} {in_words(snapshot)}"
        )
    width = max(len(name) for name in rows)
    return "\n".join(f"{name:<{width}}  {', '.join(parts)}" for name, parts in rows.items())


def in_words(snapshot: Snapshot) -> str:
    """The state and the figure that matters most."""
    attributes = snapshot.attributes
    if snapshot.state in ("on", "off") and attributes.get("brightness") is not None:
        colour = attributes.get("rgb_color")
        tint = f" rgb{tuple(colour)}" if colour else ""
        return f"{snapshot.state} {round(attributes['brightness'] / 255 * 100)} %{tint}"
    if snapshot.state == "on" and attributes.get("percentage"):
        return f"on {attributes['percentage']} %"
    if "current_position" in attributes and snapshot.state != "closed":
        return f"{snapshot.state} {attributes['current_position']} %"
    if "hvac_modes" in attributes:
        return f"{snapshot.state} to {attributes['temperature']} °C"
    if "volume_level" in attributes:
        return f"{snapshot.state} at {round(attributes['volume_level'] * 100)} %"
    if "unit_of_measurement" in attributes:
        return f"{snapshot.state} {attributes['unit_of_measurement']}"
    return snapshot.state
