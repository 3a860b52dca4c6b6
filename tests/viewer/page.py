"""A served page and a browser that looks at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser import Browser
from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server


@contextmanager
def looking_at(*paths: Path, size: tuple[int, int] = (1440, 900), **options: Any) -> Iterator["Look"]:
    """Serve datasets and open their page."""
    server = view_server(Library(paths), ViewOptions(**options))
    server.start()
    try:
        with Browser(size=size) as browser:
            yield Look(browser, server.address)
    finally:
        server.close()


class Look:
    """What a person does with the page."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        browser.open(address)
        self.run = browser.run

    def wait(self, holds: Any, what: str) -> None:
        """Wait until a function, or an expression of the page, gives something true, such as a node."""
        self.browser.wait(f"Boolean({holds})" if isinstance(holds, str) else holds, what)

    def go(self, place: str) -> None:
        """Go to a page by the part of its address after the hash, and wait until the one before is gone."""
        self.wait("document.querySelector('main .stack, main .card')", "the page before")
        self.run("document.querySelectorAll('main > *').forEach((node) => { node.dataset.before = '1'; })")
        self.run(f"location.hash = {place!r}")
        self.wait("document.querySelector('main > :not([data-before])')", place)

    def type(self, selector: str, text: str) -> None:
        """Fill a field as a person does."""
        self.run(
            f"(() => {{ const field = document.querySelector({selector!r}); field.value = {text!r}; "
            "field.dispatchEvent(new Event('input', {bubbles: true})); "
            "field.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def click(self, text: str, selector: str = "button, a, summary") -> None:
        """Click on what has a text."""
        found = self.run(
            f"(() => {{ const node = [...document.querySelectorAll({selector!r})]"
            f".find((entry) => entry.textContent.trim().includes({text!r}) && entry.offsetParent); "
            "node?.click(); return Boolean(node); })()"
        )
        assert found, f"there is nothing to click with {text!r}"

    def key(self, key: str, code: str = "", **more: Any) -> None:
        """Press and release a key where the focus is; Enter and space act as they do for a person."""
        texts = {"Enter": "\r", " ": " "}
        for kind in ("keyDown", "keyUp"):
            text = {"text": texts[key]} if kind == "keyDown" and key in texts else {}
            self.browser.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **CODES.get(key, {}), **text, **more
            )

    def cards(self) -> list[str]:
        """Return the texts of the cards in sight."""
        return self.run("[...document.querySelectorAll('.episode .words')].map((node) => node.textContent)")

    def status(self) -> str:
        """Return how many episodes are shown."""
        return self.run("document.querySelector('main [role=status]')?.textContent ?? ''")


CODES = {
    "Tab": {"windowsVirtualKeyCode": 9},
    "Enter": {"windowsVirtualKeyCode": 13},
    " ": {"windowsVirtualKeyCode": 32},
    "ArrowLeft": {"windowsVirtualKeyCode": 37},
    "ArrowRight": {"windowsVirtualKeyCode": 39},
    "ArrowDown": {"windowsVirtualKeyCode": 40},
    "End": {"windowsVirtualKeyCode": 35},
    "Home": {"windowsVirtualKeyCode": 36},
}
