#!/bin/sh
# Make a virtual environment; where Debian splits venv into a package of its own, install or name that package.
set -eu
folder=$1
python=${PYTHON:-python3}

if ! command -v "$python" >/dev/null 2>&1; then
    echo "handloom needs Python 3.11 or newer, and there is no '$python' here; try: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "handloom needs Python 3.11 or newer; '$python' is $("$python" -V 2>&1). Try: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    package="python$("$python" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}")')-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing $package"
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null
    else
        echo "Python's venv module is missing; run: sudo apt install $package" >&2
        exit 1
    fi
fi
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
