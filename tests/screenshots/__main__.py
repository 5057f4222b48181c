"""Take the documentation's pictures of every page, on the demo data: `python -m tests.screenshots [FOLDER] [--mask]`.

Writes PNGs at 1440×900 in a light theme, with few colours so that they stay small, beside this file or into FOLDER;
with a folder given, also 1024×768 and 390×844, and a dark theme. With `--mask` all texts are masked.
"""

from __future__ import annotations

import argparse
import io
import os
from pathlib import Path

from PIL import Image

from tests.support.browser import ROOT, Visit, serve_app, start_browser

HERE = Path(__file__).parent
COLOURS = 96
SETTLE = 4_000
"""Milliseconds a page is given to draw its charts."""

SIZES = ((1440, 900), (1024, 768), (390, 844))
RECORD = "doc=en-01&record=g:133-143:PROTEINAS"
WANTED = {
    "Inspect": f"&{RECORD}",
    "Present": f"&{RECORD}&slide=record",
}
"""What else the links of some pages ask for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--mask", action="store_true")
    options = parser.parse_args()
    folder: Path | None = options.folder
    names = {path.stem.split("_", 1)[1] for path in (ROOT / "pages").glob("*.py")}
    # Without verdicts, which nobody has given on the demos, Review says no more than how to give some.
    pages = ["", *sorted(names - {"Review"})]
    # Start is shown as on a new machine, without kept corpora.
    os.environ["NEREVAL_CACHE"] = ""
    with serve_app(*(["--mask"] if options.mask else [])) as address, start_browser() as browser:
        for width, height in SIZES if folder else SIZES[:1]:
            for theme in ("light", "dark") if folder else ("light",):
                visit = Visit(browser, address, viewport={"width": width, "height": height}, color_scheme=theme)
                visit.go("/")
                with visit.rerun():
                    visit.page.locator(".st-key-demo-pharmacology button").first.click()
                query = visit.page.url.partition("?")[2]
                for name in pages:
                    chosen = f"{query}{WANTED.get(name, '')}"
                    visit.go(f"/{name}?{chosen}" if name else "/")
                    visit.page.wait_for_timeout(SETTLE)
                    suffix = f"_{width}_{theme}" if folder else ""
                    save(visit.page.screenshot(), (folder or HERE) / f"{name.lower() or 'start'}{suffix}.png")
                visit.close()


def save(png: bytes, path: Path) -> None:
    """Save a picture with few colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, f"{path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
