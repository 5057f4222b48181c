"""What tests of several folders share: corpora to draw and to read, the oracle, the browser, real databases."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
OFFLINE = ROOT / "tests" / "support" / "offline"
PYTHON_PATH = f"{OFFLINE}:{ROOT}"
"""For processes that import nereval from elsewhere and are, like all others, refused connections."""
