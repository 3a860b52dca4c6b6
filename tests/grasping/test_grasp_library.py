"""Annotated on first use, the same rows ever after."""

import hashlib
import os
import subprocess
import sys

import numpy as np

from handloom.grasping import AnnotateOptions, GripperShape, grasps_for
from handloom.grasping.grasp_library import cache_file, grasp_key
from handloom.objects import ObjectAsset, make_object
from handloom.robots import load_robot

OPTIONS = AnnotateOptions(count=10, samples=60)
PROGRAM = """
import hashlib, os, sys
import numpy as np
from handloom.kernels import cache_folder, kernel_parts
for part in kernel_parts():
    cache_folder(part)  # The compiled kernels stay where they are when the cache moves.
os.environ["HANDLOOM_CACHE"] = sys.argv[1]
from handloom.grasping import AnnotateOptions, GripperShape, grasps_for
from handloom.objects import make_object
from handloom.robots import load_robot
asset = make_object("mug", rng=np.random.default_rng(3))
rows = grasps_for(asset, GripperShape.of(load_robot("fr3")), options=AnnotateOptions(count=10, samples=60))
print(hashlib.sha256(rows.tobytes()).hexdigest())
"""


def an(category: str, **parameters: float) -> ObjectAsset:
    return make_object(category, rng=np.random.default_rng(3), parameters=parameters)


def digest(rows: np.ndarray) -> str:
    return hashlib.sha256(rows.tobytes()).hexdigest()


def test_the_cache_changes_nothing(fr3):
    mug = an("mug")
    file = cache_file(grasp_key(mug, fr3, OPTIONS))
    assert not file.exists()
    first = grasps_for(mug, fr3, options=OPTIONS)
    assert file.exists()
    second = grasps_for(mug, fr3, options=OPTIONS)
    file.unlink()
    third = grasps_for(mug, fr3, options=OPTIONS)
    assert digest(first) == digest(second) == digest(third)
    assert len(first) > 0


def test_a_damaged_cache_file_is_made_again(fr3):
    cube = an("cube")
    first = grasps_for(cube, fr3, options=OPTIONS)
    cache_file(grasp_key(cube, fr3, OPTIONS)).write_bytes(b"half a file")
    assert digest(grasps_for(cube, fr3, options=OPTIONS)) == digest(first)


def test_several_programs_at_once_get_the_same_bits(fr3, monkeypatch):
    cache = os.environ["HANDLOOM_CACHE"]
    monkeypatch.delenv("HANDLOOM_CACHE")
    command = [sys.executable, "-c", PROGRAM, cache]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    digests = {run.communicate(timeout=600)[0].strip() for run in runs}
    assert all(run.returncode == 0 for run in runs)
    monkeypatch.setenv("HANDLOOM_CACHE", cache)
    cache_file(grasp_key(an("mug"), fr3, OPTIONS)).unlink()
    assert digests == {digest(grasps_for(an("mug"), fr3, options=OPTIONS))}


def test_the_key_depends_on_object_gripper_and_options(fr3, so101):
    cube = an("cube")
    keys = {
        grasp_key(cube, fr3, OPTIONS),
        grasp_key(an("cube", edge=0.021), fr3, OPTIONS),
        grasp_key(cube, so101, OPTIONS),
        grasp_key(cube, fr3, AnnotateOptions(count=11, samples=60)),
    }
    assert len(keys) == 4


def test_the_shape_of_a_gripper_is_measured_once():
    assert GripperShape.of(load_robot("fr3")) is GripperShape.of(load_robot("fr3"))
