"""Two FR3 face each other at one table, and their hands swap sides; each policy treats the other arm as obstacles."""

import numpy as np
from PIL import Image, ImageDraw

from handloom.isaac.motion_generation import GroundPlane, RmpFlow, Sphere, load_supported_motion_policy_config

FRAME, SECONDS = 1 / 60, 14.0
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
BASES = (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
GOALS = (((0.5, 0.25, 0.35), (0.5, -0.25, 0.35)), ((0.5, -0.25, 0.35), (0.5, 0.25, 0.35)))

policies = [RmpFlow(**load_supported_motion_policy_config("fr3")) for _ in BASES]
states = [(HOME.copy(), np.zeros(7)) for _ in BASES]
others: list[list[Sphere]] = []
for policy, pose in zip(policies, BASES, strict=True):
    policy.set_robot_base_pose(*pose)
    policy.add_obstacle(GroundPlane("table", position=(0.0, 0.0, -0.02)))
for one, two in ((0, 1), (1, 0)):
    centers, radii = policies[two].collision_spheres(HOME)
    balls = [Sphere(f"arm{two}_{k}", radius=r, position=c) for k, (c, r) in enumerate(zip(centers, radii, strict=True))]
    for ball in balls:
        policies[one].add_obstacle(ball)
    others.append(balls)

gaps, tracks, reached = [], ([], []), []
for frame in range(round(SECONDS / FRAME)):
    placed = [policy.collision_spheres(q) for policy, (q, _) in zip(policies, states, strict=True)]
    gaps.append(
        (np.linalg.norm(placed[0][0][:, None] - placed[1][0], axis=2) - placed[0][1][:, None] - placed[1][1]).min()
    )
    late = frame * FRAME > SECONDS / 2
    for k, policy in enumerate(policies):
        for ball, center in zip(others[k], placed[1 - k][0], strict=True):
            ball.set_world_pose(position=center)
        policy.update_world()
        policy.set_end_effector_target(GOALS[k][int(late)])
        states[k] = policy.compute_joint_targets(*states[k], [], [], FRAME)
        tracks[k].append(policy.get_end_effector_pose(states[k][0])[0])
reached = [float(np.linalg.norm(tracks[k][-1] - GOALS[k][1])) for k in (0, 1)]
print(f"hands end {100 * reached[0]:.1f} cm and {100 * reached[1]:.1f} cm from their goals")
print(f"the arms were never closer than {100 * min(gaps):.1f} cm")
assert max(reached) < 0.02
assert min(gaps) > 0

picture = Image.new("RGB", (480, 360), "white")
draw = ImageDraw.Draw(picture)
for track, colour in zip(tracks, ("#b03a2e", "#2e6db0"), strict=True):
    draw.line([(40 + 400 * x, 180 - 400 * y) for x, y, _ in track], fill=colour, width=3)
picture.save("two_arms_one_table.png")
