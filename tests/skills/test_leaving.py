"""A hand that has put something into a container leaves it straight up before it goes on."""

import mujoco
from tests.skills.conftest import run_with, table_instance, thing

from handloom.objects.geometry import vertices_of
from handloom.scene.measures import world_box
from handloom.skills.arms.traffic import solid_geoms_of

PLACE = {"name": "place", "objects": ["cube", "basket"], "relation": "in", "success_mode": "relation",
         "position_constraint": "object", "rest_on": "target", "x_ratio_range": [0.45, 0.55],
         "y_ratio_range": [0.45, 0.55], "pre_place_z_offset": 0.045, "place_z_offset": 0.01, "until_contact": True,
         "retreat": 0.04, "retreat_widest": 0.12, "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1}  # fmt: skip
PICK = {"name": "pick", "objects": ["cube"], "approach": "down", "lift_th": 0.02, "t_eps": 0.01, "o_eps": 0.1}


def test_the_fingers_are_above_a_container_at_the_end_of_a_place(tmp_path):
    cube = thing("cube", "cube", (-0.15, 0.0), parameters={"edge": 0.025})
    basket = thing("basket", "low_basket", (0.15, 0.05), parameters={"radius": 0.11, "height": 0.075})
    scene, record = run_with(table_instance(tmp_path, cube, basket), PICK, PLACE)
    assert record.success, record.failure
    scene.world.restore_state(record.states[record.timeline[-1].end])
    mujoco.mj_forward(scene.world.model, scene.world.data)
    arm = scene.robot("franka").arm("left")
    geoms = solid_geoms_of(scene, arm.finger_bodies)
    lowest = min(vertices_of(scene.world.model, scene.world.data, geom)[:, 2].min() for geom in geoms)
    assert lowest > world_box(scene, "basket")[1, 2]
