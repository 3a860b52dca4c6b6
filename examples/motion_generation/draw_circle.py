"""An FR3 draws a circle from two arcs and continues along lines with blended corners; a plot compares trace and path."""

import numpy as np
from PIL import Image, ImageDraw

from handloom.isaac.motion_generation import (
    LulaTaskSpaceTrajectoryGenerator,
    Pose3,
    Rotation3,
    create_task_space_path_spec,
    load_supported_lula_kinematics_solver_config,
)

generator = LulaTaskSpaceTrajectoryGenerator(**load_supported_lula_kinematics_solver_config("fr3"))
spec = create_task_space_path_spec(Pose3(Rotation3(0, 1, 0, 0), [0.5, 0.15, 0.4]))
assert spec.add_three_point_arc([0.5, -0.15, 0.4], [0.5, 0.0, 0.55])
assert spec.add_three_point_arc([0.5, 0.15, 0.4], [0.5, 0.0, 0.25])
for corner in ([0.5, 0.15, 0.55], [0.5, -0.15, 0.55], [0.5, -0.15, 0.4]):
    assert spec.add_translation(corner, blend_radius=0.03)
path = spec.generate_path()
trajectory = generator.compute_task_space_trajectory_from_path_spec(spec, "fr3_hand")
assert trajectory is not None

times = np.arange(0.0, trajectory.end_time, 1e-3)
q, qd, qdd = trajectory.motion.sample(times)
traced = generator.robot.chain("fr3_hand").T_base_tool(q)[:, :3, 3]
wanted = np.array([path.pose(s)[:3, 3] for s in np.linspace(0.0, path.domain().upper, 3000)])
off = max(float(np.linalg.norm(wanted - point, axis=1).min()) for point in traced[::5])
used = [
    float(np.abs(values / limit).max())
    for values, limit in (
        (qd, generator.get_c_space_velocity_limits()),
        (qdd, generator.get_c_space_acceleration_limits()),
        (np.diff(qdd, axis=0) / 1e-3, generator.get_c_space_jerk_limits()),
    )
]
print(f"{trajectory.end_time:.2f} s, at most {1000 * off:.1f} mm off the path")
print(f"fraction of the limits used: velocity {used[0]:.2f}, acceleration {used[1]:.2f}, jerk {used[2]:.2f}")
assert off < 0.004
assert max(used) <= 1.0 + 1e-6

picture = Image.new("RGB", (480, 480), "white")
draw = ImageDraw.Draw(picture)
for points, colour, width in ((wanted, "#c9c9c9", 7), (traced, "#b03a2e", 2)):
    draw.line([(240 - 1100 * y, 240 - 1100 * (z - 0.4)) for _, y, z in points], fill=colour, width=width)
picture.save("draw_circle.png")
