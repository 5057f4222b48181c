"""JUnit XML of checks: a suite for each system, a test case for each check, as CI services show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from nereval_core.analysis.score_checks import Check

ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def junit_bytes(checks: Sequence[Check]) -> bytes:
    """Return the checks as a file of JUnit XML; characters that XML cannot hold become U+FFFD."""
    root = ElementTree.Element("testsuites", _counts(checks) | {"name": "nereval check"})
    for system in dict.fromkeys(check.system for check in checks):
        own = [check for check in checks if check.system == system]
        suite = ElementTree.SubElement(root, "testsuite", {"name": _legal(system)} | _counts(own))
        for check in own:
            case = ElementTree.SubElement(
                suite, "testcase", {"classname": _legal(system), "name": _legal(check.name), "time": "0"}
            )
            if check.failure:
                ElementTree.SubElement(case, "failure", {"message": _legal(check.failure)})
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    failures = sum(bool(check.failure) for check in checks)
    return {"tests": str(len(checks)), "failures": str(failures), "errors": "0", "time": "0"}


def _legal(text: str) -> str:
    return ILLEGAL.sub("\ufffd", text)
