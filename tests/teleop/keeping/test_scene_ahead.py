"""The next scene is built while the operator looks at the present one."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_teleop_run import IDLE, Script, begun

from handloom.errors import InputError
from handloom.scene import Scene, build_scene
from handloom.tasks import sample_task
from handloom.teleop.keeping.scene_ahead import SceneAhead


class Built:
    """Stands for a scene."""


def ahead_of(build: Any) -> SceneAhead:
    return SceneAhead(build)


def test_a_scene_is_built_once_and_given_once() -> None:
    built: list[int] = []
    scene: Any = Built()
    ahead = ahead_of(lambda episode: (built.append(episode), scene)[1])
    ahead.begin(3)
    ahead.begin(3)
    assert ahead.take(4) is None
    assert ahead.take(3) is scene
    assert ahead.take(3) is None
    assert built == [3]


def test_whoever_asks_early_waits_for_the_scene_that_is_being_built() -> None:
    go, scene = threading.Event(), Built()
    ahead = ahead_of(lambda episode: (go.wait(20.0), scene)[1])
    ahead.begin(0)
    found: list[Any] = []
    taker = threading.Thread(target=lambda: found.append(ahead.take(0)))
    taker.start()
    assert found == []
    go.set()
    taker.join(20.0)
    assert found == [scene]


def test_a_scene_that_cannot_be_sampled_is_left_to_whoever_asks_for_it() -> None:
    def build(episode: int) -> Scene:
        raise InputError("no place for the cube")

    ahead = ahead_of(build)
    ahead.begin(0)
    assert ahead.take(0) is None
    ahead.close()


def test_the_scene_after_a_saved_one_was_built_before_and_is_the_one_that_is_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(tmp_path / "run", keep_failures=True)
    threads: dict[int, str] = {}
    build = run._build

    def noted(episode: int) -> Scene:
        threads[episode] = threading.current_thread().name
        return build(episode)

    monkeypatch.setattr(run, "_ahead", SceneAhead(noted))
    seen: dict[int, np.ndarray] = {}

    class Looking(Script):
        def scene(self, scene, facts) -> None:
            super().scene(scene, facts)
            seen.setdefault(facts["episode"], scene.world.save_state())

    script = Looking((IDLE, ["discard"]), (IDLE, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert threads[1] == "next scene"
    fresh = build_scene(sample_task(run.task, run.run.settings.seed, 1))
    assert np.array_equal(seen[1], fresh.world.save_state())
