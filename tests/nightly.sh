#!/usr/bin/env bash
# What takes too long for every change, meant for every night: `bash tests/nightly.sh [SECONDS]` (default 600 a script).
#
# Runs the tests marked nightly, those that draw their input with more of it, the scripts of endurance, the fuzzer where
# atheris is installed, and the core on the lowest versions of its dependencies. Goes on after a failure and ends with
# the names of what failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-600}
bash tests/run.sh --collect-only -q tests/test_imports.py >/dev/null || exit 1
python=.venv-tests/bin/python
export CI=true OPENBLAS_NUM_THREADS=1
failed=()
step() {
    local begun=$SECONDS
    printf '\n== %s\n' "$*"
    "$@" </dev/null || failed+=("$*")
    printf '== %d seconds\n' $((SECONDS - begun))
}

step bash tests/run.sh --nightly -m nightly
step bash tests/run.sh --hypothesis-profile nightly -m hypothesis
for script in $("$python" -c 'from tests.endurance.__main__ import SCRIPTS; print(*SCRIPTS)'); do
    step "$python" -m tests.endurance "$script" --seconds "$seconds"
done
if "$python" -c 'import atheris' 2>/dev/null; then
    step "$python" -m tests.fuzzing --seconds "$((seconds / 10))"
fi
step bash .ci/lowest

[ ${#failed[@]} = 0 ] || { printf '\nfailed:\n'; printf '  %s\n' "${failed[@]}"; exit 1; }
