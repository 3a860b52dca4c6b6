"""Belts and turntables carry objects by friction, start and stop, and are seen to move."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import ObjectInstance, TaskInstance

TASK = "fr3_belt_pick_place"
SPEED = 0.08


@pytest.fixture(scope="module")
def instance() -> TaskInstance:
    return sample_task(load_task(TASK), 3, 0)


def with_belt(instance: TaskInstance, **changes: object) -> TaskInstance:
    objects = tuple(replace(o, **changes) if o.name == "belt" else o for o in instance.objects)
    return replace(instance, objects=objects)


def way(scene: Scene, seconds: float, name: str = "carton") -> np.ndarray:
    """Return where an object is before every frame (n, 3) [m]."""
    places = [scene.object_pose(name)[:3, 3].copy()]
    for _ in range(round(seconds * scene.instance.fps)):
        scene.world.step(scene.instance.substeps)
        places.append(scene.object_pose(name)[:3, 3].copy())
    return np.array(places)


def test_an_object_reaches_the_speed_of_the_belt_does_not_drift_and_leaves_at_its_end(instance: TaskInstance) -> None:
    scene = build_scene(instance)
    places = way(scene, 14.0)
    x, belt = places[:, 0], scene.object_pose("belt")[:3, 3]
    end = belt[0] + scene.assets["belt"].extent[0] / 2
    carried = places[x < end - 0.1]
    speed = np.diff(carried[:, 0])[15:] * instance.fps
    assert speed.mean() == pytest.approx(SPEED, rel=0.01)
    assert speed.min() > 0.99 * SPEED
    assert abs(carried[-1, 1] - carried[0, 1]) < 0.01 * (carried[-1, 0] - carried[0, 0])
    assert places[-1, 0] > end - 0.02
    assert places[-1, 2] < carried[0, 2] - 0.05, "it left at the end"


def test_a_belt_starts_and_stops_at_its_times_and_a_restored_world_knows_them(instance: TaskInstance) -> None:
    scene = build_scene(with_belt(instance, running=((1.0, 2.5),)))
    places = way(scene, 2.0)
    state = scene.world.save_state()
    later = way(scene, 1.5)
    speed = np.diff(np.vstack([places, later[1:]])[:, 0]) * instance.fps
    assert np.abs(speed[5:29]).max() < 1e-3
    assert speed[45:60] == pytest.approx(SPEED, rel=0.02)
    assert np.abs(speed[80:]).max() < 1e-3
    again = build_scene(with_belt(instance, running=((1.0, 2.5),)))
    again.world.restore_state(state)
    assert np.array_equal(way(again, 1.5), later)


def test_the_marks_move_with_the_surface_and_a_camera_sees_it(instance: TaskInstance) -> None:
    scene = build_scene(instance)
    joint = next(name for name in scene.world.joints if name.endswith("/marks"))
    before = scene.world.joint_position(joint)
    camera = instance.cameras[0].resized(96, 96)
    renderer = Renderer(scene.world.model, "fast")
    pictures = [renderer.render(scene.world.data, (camera,))[camera.name]["rgb"].astype(int)]
    scene.world.step(17 * 15)
    assert scene.world.joint_position(joint) - before == pytest.approx(SPEED * 0.5, rel=1e-6)
    pictures.append(renderer.render(scene.world.data, (camera,))[camera.name]["rgb"].astype(int))
    assert (np.abs(pictures[1] - pictures[0]).max(axis=2) > 15).mean() > 0.005
    scene.world.step(17 * 60)
    assert 0.0 <= scene.world.joint_position(joint) < 0.08


@pytest.mark.parametrize("speed", [0.5, -0.4])
def test_a_turntable_turns_what_stands_on_it(instance: TaskInstance, speed: float) -> None:
    """The object turns by the angle of the table, about its middle and about itself, on a circle."""
    table = next(o for o in instance.objects if o.name == "belt")
    carton = next(o for o in instance.objects if o.name == "carton")
    parameters = {"color": "gray", "speed": speed, "radius": 0.22, "height": 0.08}
    disc = ObjectInstance(name="belt", category="turntable", parameters=parameters, position=(0, 0.2, 0.79), fixed=True)
    block = replace(carton, position=(0.12, 0.2, 0.83 + 0.0255), quat=(1.0, 0.0, 0.0, 0.0))
    assert table.fixed
    others = tuple(o for o in instance.objects if o.name not in {"belt", "carton", "tray"})
    scene = build_scene(replace(instance, objects=(*others, disc, block)))
    places = way(scene, 5.0) - scene.object_pose("belt")[:3, 3]
    angle = np.unwrap(np.arctan2(places[:, 1], places[:, 0]))
    turn = np.diff(angle)[10:] * instance.fps
    assert turn.mean() == pytest.approx(speed, rel=0.01)
    assert np.abs(turn).min() > 0.99 * abs(speed)
    radius = np.hypot(places[:, 0], places[:, 1])
    assert abs(radius[-1] - radius[10]) < 0.01 * abs(angle[-1]) * radius[10], "it stays on its circle"
    R = scene.object_pose("carton")[:3, :3]
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx((angle[-1] - angle[0] + np.pi) % (2 * np.pi) - np.pi, abs=0.03)
    marks = next(name for name in scene.world.joints if name.endswith("/marks"))
    assert scene.world.joint_position(marks) == pytest.approx((speed * 5.0) % (2 * np.pi), abs=1e-6)


def test_speed_and_direction_are_drawn_from_the_ranges_of_the_task() -> None:
    overrides = ["objects.0.velocity_ranges=[[-0.1, -0.06], [0.06, 0.1]]"]
    task = load_task(TASK, overrides=overrides)
    speeds = [
        next(o for o in sample_task(task, 0, k).objects if o.name == "belt").parameters["speed"] for k in range(8)
    ]
    assert all(0.06 <= abs(speed) <= 0.1 for speed in speeds)
    assert min(speeds) < 0 < max(speeds)
    assert len(set(speeds)) == 8
    with pytest.raises(ConfigError, match="keys of a ConveyorObject"):
        load_task(TASK, overrides=["objects.1.running=[[0, 1]]"])
    with pytest.raises(ConfigError, match="go from low to high"):
        load_task(TASK, overrides=["objects.0.running=[[2, 1]]"])
