"""An FR3 takes its hand out from under a shelf board and puts it above, on a path that RRT plans; drawn as a film strip."""

import mujoco
import numpy as np

from handloom.motion_generation import (
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
BOARDS = {"board": ((0.3, 0.6, 0.02), (0.6, 0.0, 0.42)), "side": ((0.3, 0.02, 0.5), (0.6, 0.3, 0.45))}

planner = RRT(**load_supported_path_planner_config("fr3"))
solver = LulaKinematicsSolver(**load_supported_lula_kinematics_solver_config("fr3"))
boxes = [Cuboid(name, scale=sides, position=at) for name, (sides, at) in BOARDS.items()]
for box in boxes:
    planner.add_obstacle(box, static=True)
start, success = solver.compute_inverse_kinematics(planner.robot.frame_names[-3], [0.45, 0.0, 0.2], DOWN)
assert success
planner.set_end_effector_target([0.5, 0.0, 0.62], DOWN)
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
        pictures.append(renderer.render(data, [view], ("rgb",))[0]["rgb"])
print(f"{len(path)} configurations, {motion.end_time:.2f} s, {sum(gaps)} contacts with the shelf on the way")
assert sum(gaps) == 0
write_png("plan_around_shelf.png", contact_sheet(pictures, columns=6))
