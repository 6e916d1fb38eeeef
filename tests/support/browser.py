# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a window, driven over its own protocol; nothing is fetched."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
SOURCE = Path(__file__).resolve().parent.parent.parent
# Kept by the CI.
SCREENSHOTS = Path(os.environ.get("OPGAUGE_SCREENSHOTS", SOURCE / "build/screenshots"))


class Browser:
    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
            options.add_argument(flag)
        options.add_argument("--window-size=1300,1000")
        logs = {"browser": "ALL", "performance": "ALL"}
        options.set_capability("goog:loggingPrefs", logs)
        self.driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))

    def open(self, page: Path) -> None:
        self.driver.get(page.as_uri())

    def close(self) -> None:
        self.driver.quit()

    def script(self, text: str, *values: Any) -> Any:
        return self.driver.execute_script(text, *values)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        """Of all at once: a call for each cell of a table takes seconds."""
        return self.script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)",
            selector,
        )

    def go(self, place: str) -> None:
        """To a page of the report, and until it is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[1];"
            "location.hash = arguments[0];"
            "setTimeout(() => requestAnimationFrame(() => done()), 0);",
            place,
        )

    def scheme(self, name: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": name}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def keep(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def complaints(self) -> list[str]:
        """What the page wrote to its console since the last look."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Everything that was asked for, since the last look, beside the page itself."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("file:", "data:"))]
