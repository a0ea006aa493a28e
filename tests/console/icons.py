"""Make the icons of the installed console: `python -m tests.console.icons`, from its icon.svg.

Phones take no SVG for the home screen. The maskable icon is smaller in its field, because each
phone cuts out a shape of its own.
"""

from pathlib import Path

from tests.console.browser import browsing

_CONSOLE = Path(__file__).parents[2] / "integrations" / "web" / "console"
_GROUND = "#241a15"  # as in icon.svg
# Size in pixels, and the share of it that the picture takes.
_ICONS = {"any-192": (192, 1.0), "any-512": (512, 1.0), "apple-180": (180, 1.0)}
_MASKABLE = {"maskable-512": (512, 0.8)}


def main() -> None:
    """Write all icons."""
    drawing = (_CONSOLE / "icon.svg").read_text("utf-8")
    with browsing() as browser:
        for name, (size, share) in {**_ICONS, **_MASKABLE}.items():
            page = browser.new_page(viewport={"width": size, "height": size})
            clear = name.startswith("any")
            page.set_content(
                f"<style>body {{ margin: 0; display: grid; place-items: center; height: 100vh; "
                f"background: {'transparent' if clear else _GROUND} }} "
                f"svg {{ width: {share:.0%}; height: {share:.0%} }}</style>{drawing}"
            )
            path = _CONSOLE / "icons" / f"{name}.png"
            page.screenshot(path=path, omit_background=clear)
            page.close()


if __name__ == "__main__":
    main()
