"""Check the types of the app's scripts: those of JSDoc, and what follows from them and from the browser's own.

`.venv-tests/bin/python .ci/script_types.py`. The scripts of a component make one module, as they do in the page. Deno
(its wheel holds TypeScript) checks them without the network.
"""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DENO = Path(sys.executable).with_name("deno")
OPTIONS = {"checkJs": True, "strict": False, "lib": ["dom", "dom.iterable", "esnext"]}


def scripts() -> dict[str, str]:
    """Return the script of each component of the pages by its name."""
    by_name: dict[str, str] = {}

    def note(name: str, *_: Any, js: str = "", **__: Any) -> Any:
        by_name[name] = js

    sys.path.insert(0, str(ROOT))
    component_files: Any = import_module("pages.shared.server.component_files")
    component_files.component = note
    shared = import_module("pages.shared")
    for module in pkgutil.walk_packages(shared.__path__, "pages.shared."):
        import_module(module.name)
    return {name: js for name, js in by_name.items() if js}


def main() -> int:
    with TemporaryDirectory() as folder:
        (Path(folder) / "deno.json").write_text(json.dumps({"compilerOptions": OPTIONS}), encoding="utf-8")
        names = []
        for name, script in sorted(scripts().items()):
            names.append(f"{name}.js")
            (Path(folder) / names[-1]).write_text(script, encoding="utf-8")
        if not names:
            print("no component has a script", file=sys.stderr)
            return 1
        environment = {"NO_COLOR": "1", "DENO_DIR": folder, "DENO_NO_UPDATE_CHECK": "1", "PATH": ""}
        command = [str(DENO), "check", "--quiet", *names]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
