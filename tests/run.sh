#!/usr/bin/env bash
# Set up what the tests need and run them: `bash tests/run.sh [pytest arguments]`.
#
# Needs Python 3.11 or newer, and the package index the first time. Makes its own environment, .venv-tests, of the
# versions in tests/requirements.lock, again only when the Python or the lock changes. PYTHON names another interpreter.
# Chromium, for the browser tests, is installed through apt where there is none and that is possible; so is PostgreSQL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

candidates=(python3 python python3.13 python3.12 python3.11)
[ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
python=
for candidate in "${candidates[@]}"; do
    if fits "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "tests/run.sh: no Python 3.11 or newer found; install one, or name it: PYTHON=/path/to/python bash tests/run.sh" >&2
    exit 1
fi

venv=.venv-tests
wanted=$("$python" -c 'import sys; print(sys.version, sys.prefix)'; cat tests/requirements.lock)
if ! fits "$venv/bin/python" || [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    echo "tests/run.sh: setting up $venv with $("$python" --version)"
    rm -rf "$venv"
    # Debian ships Python without ensurepip: there the outer pip installs into the environment.
    if "$python" -m venv "$venv" >/dev/null 2>&1; then
        pip=("$venv/bin/python" -m pip)
    else
        rm -rf "$venv"
        "$python" -m venv --without-pip "$venv"
        pip=("$python" -m pip --python "$venv/bin/python")
    fi
    "${pip[@]}" install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.lock
    printf '%s\n' "$wanted" >"$venv/installed"
fi

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
if ! browser >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "tests/run.sh: installing Chromium for the browser tests"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
        </dev/null >/dev/null || true
fi
if ! browser >/dev/null; then
    echo "tests/run.sh: no Chromium: the browser tests cannot run; install it (Debian: apt-get install chromium)" >&2
fi

server() { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null; }
if ! server >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "tests/run.sh: installing PostgreSQL for the tests of verdicts kept there"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql; } \
        </dev/null >/dev/null || true
fi
if ! server >/dev/null; then
    echo "tests/run.sh: no PostgreSQL: tests of verdicts kept there cannot run (Debian: apt-get install postgresql)" >&2
fi

# Numpy's own threads would only wait for the other process.
export OPENBLAS_NUM_THREADS=1
# Processes take one file after the other, in the order that tests/conftest.py gives them. There are three on two cores:
# tests of servers and browsers wait for a third of their time.
exec "$venv/bin/python" -m pytest -n 3 --dist loadfile --no-loadscope-reorder "$@" </dev/null
