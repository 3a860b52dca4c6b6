"""The node commands surface grippers by pulses."""

from tests.scene.surface_gripper.bench_models import hand_over_boxes

from handloom.isaac.graph import Graph, GraphSession, Keys
from handloom.scene.surface_gripper import SurfaceGripper
from handloom.sim import World


def session(pulse: str, *, target: str = "/hand", enabled: bool = True) -> tuple[GraphSession, World, SurfaceGripper]:
    world, gripper = hand_over_boxes()
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("tick", "OnPlaybackTick"),
                ("suction", "isaacsim.robot.surface_gripper.SurfaceGripper"),
            ],
            Keys.SET_VALUES: [("suction.inputs:SurfaceGripper", target), ("suction.inputs:enabled", enabled)],
            Keys.CONNECT: [("tick.outputs:tick", f"suction.inputs:{pulse}")],
        }
    )
    made = GraphSession(graph, world, {}, steps_per_frame=12, surface_grippers={"/hand": gripper})
    made.play()
    return made, world, gripper


def test_close_attaches_and_the_outputs_say_so() -> None:
    play, _, gripper = session("Close")
    assert not play.frame().failures
    assert gripper.is_closed()
    play.frame()
    assert play.graph.nodes["suction"].outputs["status"] == "Closed"
    assert tuple(play.graph.nodes["suction"].outputs["grippedObjects"]) == ("box0",)
    play.stop()
    assert gripper.gripped_objects == ()


def test_toggle_closes_and_opens_in_turn() -> None:
    play, _, gripper = session("Toggle")
    held = []
    for _ in range(4):
        play.frame()
        held.append(gripper.is_closed())
    assert held == [True, False, True, False]


def test_open_lets_go() -> None:
    play, world, gripper = session("Open")
    gripper.close()
    world.step()
    assert gripper.is_closed()
    play.frame()
    assert gripper.gripped_objects == ()


def test_an_unknown_gripper_and_a_node_that_is_off_are_failures_that_say_why() -> None:
    play, _, gripper = session("Close", target="/arm")
    assert "'/arm'" in str(play.frame().failures)
    play, _, gripper = session("Close", enabled=False)
    assert "not enabled" in str(play.frame().failures)
    assert not gripper.is_closed()
