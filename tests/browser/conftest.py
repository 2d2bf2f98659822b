"""A real browser for the report: Debian's chromium, driven by Playwright; tests skip where either is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("TREEWRIGHT_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium (TREEWRIGHT_CHROMIUM may say where it is)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, headless=True, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens a file; afterwards no error and no request may have happened."""
    contexts: list[Any] = []
    trouble: list[str] = []

    def opened(path: Path, *, width: int = 1360, height: int = 900, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        listen(page, path, trouble)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=30_000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def listen(page: Page, path: Path, trouble: list[str]) -> None:
    """Note down errors, dialogs and requests other than that for the file."""

    def on_message(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            trouble.append(message.text)

    def on_dialog(dialog: Dialog) -> None:
        trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_request(request: Request) -> None:
        if request.url.partition("#")[0] != path.as_uri() and not request.url.startswith("data:"):
            trouble.append(f"request: {request.url}")

    page.on("console", on_message)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", on_dialog)
    page.on("request", on_request)


@pytest.fixture
def keep_picture(tmp_path: Path) -> Callable[[Page, str], Path]:
    """Return a function that keeps a screenshot, in the folder TREEWRIGHT_SCREENSHOTS names or a temporary one."""
    folder = Path(os.environ.get("TREEWRIGHT_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)

    def kept(page: Page, name: str) -> Path:
        path = folder / f"{name}.png"
        page.screenshot(path=path, full_page=True, timeout=60_000)
        assert path.stat().st_size > 5_000
        return path

    return kept
