"""An FR3 moves its hand from one compartment of a shelf to the next, on a path around the divider that RRT plans."""

import mujoco
import numpy as np

from handloom.isaac.motion_generation import (
    RRT,
    Cuboid,
    LulaCSpaceTrajectoryGenerator,
    LulaKinematicsSolver,
    load_supported_lula_kinematics_solver_config,
    load_supported_path_planner_config,
)
from handloom.render import Renderer, contact_sheet, spec_of_mjcf_camera, write_png
from handloom.robots import load_robot

DOWN = np.array([0.0, 1.0, 0.0, 0.0])
BOARDS = {"divider": ((0.4, 0.02, 0.5), (0.6, 0.0, 0.3)), "board": ((0.4, 0.8, 0.02), (0.6, 0.0, 0.05))}

planner = RRT(**load_supported_path_planner_config("fr3"))
solver = LulaKinematicsSolver(**load_supported_lula_kinematics_solver_config("fr3"))
boxes = [Cuboid(name, scale=sides, position=at) for name, (sides, at) in BOARDS.items()]
for box in boxes:
    planner.add_obstacle(box, static=True)
start, success = solver.compute_inverse_kinematics("fr3_hand", [0.5, -0.25, 0.25], DOWN)
assert success
planner.set_end_effector_target([0.5, 0.25, 0.25], DOWN)
path = planner.compute_path(start)
assert path is not None, planner.last_result.reason
trajectory = LulaCSpaceTrajectoryGenerator(**load_supported_lula_kinematics_solver_config("fr3"))
motion = trajectory.compute_c_space_trajectory(path)

fr3 = load_robot("fr3")
spec = fr3.spec()
spec.worldbody.add_light(pos=(0.5, -1, 2.5))
spec.worldbody.add_camera(name="view", pos=(1.5, -1.2, 1.0), quat=(0.735, 0.467, 0.264, 0.415))
for sides, at in BOARDS.values():
    half = np.array(sides) / 2
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=at, rgba=(0.7, 0.5, 0.3, 1))
model = spec.compile()
data, renderer, pictures, gaps = mujoco.MjData(model), Renderer(model), [], []
view = spec_of_mjcf_camera(model, "view", width=320, height=240)
for time in np.linspace(0.0, motion.end_time, 48):
    q, _ = motion.get_joint_targets(time)
    for name, value in {**fr3.home, **dict(zip(planner.get_active_joints(), q, strict=True))}.items():
        data.joint(fr3.resolve_joint(name)).qpos[0] = value
    mujoco.mj_forward(model, data)
    touching = [c for c in data.contact[: data.ncon] if 0 in model.geom_bodyid[c.geom] and c.dist < 0]
    gaps.append(len(touching))
    if len(gaps) % 4 == 1:
        pictures.append(renderer.render(data, [view], ("rgb",))["view"]["rgb"])
print(f"{len(path)} configurations, {motion.end_time:.2f} s, {sum(gaps)} contacts with the shelf along the path")
assert sum(gaps) == 0
write_png("plan_around_shelf.png", contact_sheet(pictures, columns=6))
