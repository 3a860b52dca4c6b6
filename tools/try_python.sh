#!/bin/sh
# Install Handloom into a fresh environment of another Python, run the tests that touch every layer, make a dataset.
set -eu
python=$1
folder=$2
PYTHON="$python" sh "$(dirname "$0")/make_venv.sh" "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt -e . pytest
"$folder/bin/python" -m pytest -q tests/test_front_door.py tests/config tests/values tests/episode/test_replay.py tests/engine/test_generate.py
"$folder/bin/handloom" generate fr3_pick_cube -n 2 -o "$folder/run"
"$folder/bin/handloom" verify "$folder/run"
echo "$("$python" -V): ok"
