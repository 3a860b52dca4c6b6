"""A held body does not jump, stays, and falls when released."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError, StateError
from handloom.sim import World, add_attachment
from handloom.spatial import pose_error, relative_pose

HAND = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="hand" pos="0 0 .6">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 0 1"/>
      <geom type="box" size=".05 .05 .02" mass="1" contype="0" conaffinity="0"/>
    </body>
    <body name="cube" pos=".03 .02 .5" euler="10 20 30">
      <freejoint/>
      <geom type="box" size=".02 .02 .02" mass=".3"/>
    </body>
  </worldbody>
  <actuator>
    <position name="lift" joint="lift" kp="4000" kv="200"/>
    <position name="turn" joint="turn" kp="20" kv="2"/>
  </actuator>
</mujoco>
"""


def make_world() -> World:
    spec = mujoco.MjSpec.from_string(HAND)
    add_attachment(spec, "cube", "hand")
    return World.from_spec(spec)


def T_hand_cube(world: World) -> np.ndarray:
    return relative_pose(world.body_pose("hand"), world.body_pose("cube"))


def test_attaching_does_not_move_the_body() -> None:
    world = make_world()
    world.set_body_pose("cube", world.body_pose("cube"))
    held = T_hand_cube(world)
    world.attach("cube", "hand")
    assert world.attached_to("cube") == "hand"
    distances = []
    for _ in range(20):
        world.step()
        distance, angle = pose_error(held, T_hand_cube(world))
        distances.append((float(distance), float(angle)))
    assert np.max(distances) < 5e-5


def test_an_attached_body_follows_and_a_released_one_falls() -> None:
    world = make_world()
    held = T_hand_cube(world)
    world.attach("cube", "hand")
    for time in np.arange(0, 2, 0.02):
        world.data.ctrl[:] = 0.2 * np.sin(3 * time), np.sin(2 * time)
        world.step(10)
    distance, angle = pose_error(held, T_hand_cube(world))
    assert distance < 1e-3
    assert angle < 5e-3
    world.release("cube")
    assert world.attached_to("cube") is None
    height = world.body_pose("cube")[2, 3]
    speed = world.body_velocity("cube")[2]
    world.step(50)
    assert world.body_pose("cube")[2, 3] == pytest.approx(height + speed * 0.1 - 9.81 * 0.005, abs=2e-3)


def test_a_restored_state_holds_as_the_saved_one_did() -> None:
    world = make_world()
    world.step(40)
    world.attach("cube", "hand")
    world.step(100)
    state = world.save_state()
    world.step(500)
    other = make_world()  # It never attached anything itself.
    other.restore_state(state)
    other.step(500)
    assert other.state_hash() == world.state_hash()
    assert other.attached_to("cube") == "hand"


def test_recorded_inputs_alone_make_a_weld_hold_as_it_did() -> None:
    world, other = make_world(), make_world()
    world.step(40)
    other.step(40)
    world.attach("cube", "hand")
    inputs = np.empty(mujoco.mj_stateSize(world.model, mujoco.mjtState.mjSTATE_USER))
    mujoco.mj_getState(world.model, world.data, inputs, mujoco.mjtState.mjSTATE_USER)
    mujoco.mj_setState(other.model, other.data, inputs, mujoco.mjtState.mjSTATE_USER)
    world.step(300)
    other.step(300)
    assert other.state_hash() == world.state_hash()


def test_attaching_again_takes_the_new_pose() -> None:
    world = make_world()
    world.attach("cube", "hand")
    world.step(5)
    world.release("cube")
    world.step(60)
    held = T_hand_cube(world)
    world.attach("cube", "hand")
    world.step(300)
    distance, _ = pose_error(held, T_hand_cube(world))
    # The cube was falling when it was caught; the weld stops it within a few time constants and brings it back.
    assert distance < 1e-3


def test_reset_releases() -> None:
    world = make_world()
    world.attach("cube", "hand")
    world.reset()
    assert world.attached_to("cube") is None


def test_mistakes_are_told() -> None:
    world = make_world()
    with pytest.raises(NotFoundError, match="not prepared to attach 'hand' to 'cube'; prepared: 'cube' to 'hand'"):
        world.attach("hand", "cube")
    with pytest.raises(NotFoundError, match="did you mean 'cube'"):
        world.attach("cub", "hand")
    with pytest.raises(StateError, match="'cube' is not attached"):
        world.release("cube")
    world.attach("cube", "hand")
    with pytest.raises(StateError, match="already attached to 'hand'"):
        world.attach("cube", "hand")
    spec = mujoco.MjSpec.from_string(HAND)
    add_attachment(spec, "cube", "hand")
    with pytest.raises(InputError, match="add the pair once"):
        add_attachment(spec, "cube", "hand")
    with pytest.raises(InputError, match="to itself"):
        add_attachment(spec, "cube", "cube")


def test_attachments_that_lost_their_place_in_the_state_are_refused() -> None:
    spec = mujoco.MjSpec.from_string(HAND)
    add_attachment(spec, "cube", "hand")
    spec.nuserdata = 0
    with pytest.raises(InputError, match="room for 0"):
        World.from_spec(spec)
