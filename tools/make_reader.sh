#!/bin/sh
# Make an environment with the real lerobot and rerun, which read what we write and run what it trained. Handloom is not in it:
# lerobot wants other versions of numpy, pillow, av and packaging than constraints.txt has.
set -eu
folder=$1
[ -e "$folder/.ready" ] && exit 0
PYTHON="${PYTHON:-python3}" sh "$(dirname "$0")/make_venv.sh" "$folder"
# Decoding on the CPU is all that is needed; torch's CPU wheels are a tenth of the size.
"$folder/bin/pip" install --quiet --disable-pip-version-check 'lerobot==0.4.4' 'rerun-sdk>=0.24'
touch "$folder/.ready"
