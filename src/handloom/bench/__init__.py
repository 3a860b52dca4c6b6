"""Benchmarks, compared with other libraries if installed: ``handloom bench NAME``."""

BENCHES: dict[str, tuple[str, str]] = {
    "engine": ("handloom.bench.engine", "episodes per hour, robot hours, time budget by stage, scaling"),
    "tasks": ("handloom.bench.tasks", "success rate of the scripted expert on every task, cost, failure reasons"),
    "pack": (
        "handloom.bench.library.pack",
        "success rate of the expert on a pack of tasks, beside published results",
    ),
    "deeds": (
        "handloom.bench.library.deeds",
        "success rate of the expert on the robot-independent tasks, robot by robot",
    ),
    "check": (
        "handloom.bench.library.check",
        "accuracy of check on the robot-independent tasks, against measured success",
    ),
    "data": (
        "handloom.bench.datasets.data",
        "quality of demonstrations: views, idle time, detours, landing, instructions",
    ),
    "scenes": (
        "handloom.bench.worlds.scenes",
        "sampling and building scenes, overlap and drift at rest, reading task files",
    ),
    "kitchens": (
        "handloom.bench.worlds.kitchens",
        "sampled kitchens: overlaps, blocked doors, motion at rest, build time, images",
    ),
    "dataset": ("handloom.bench.datasets.dataset", "encode, write, merge and read episodes"),
    "scale": ("handloom.bench.datasets.scale", "merge, resume, report, verify and view a run of any size"),
    "labels": ("handloom.bench.datasets.labels", "cost of every kind of label, on top of rendering and encoding"),
    "render": ("handloom.bench.render", "frames per second and core, compared with the classic renderer"),
    "retarget": ("handloom.bench.retarget", "one frame of a retargeting graph of 20 nodes"),
    "teleop": (
        "handloom.bench.teleop",
        "latency from the page to the robot, images per second, over a socket on this machine",
    ),
    "gym": ("handloom.bench.environments", "steps per second of a task in Gymnasium, in one process and on all cores"),
    "walking": (
        "handloom.bench.walking",
        "success rates of the legged robots: walking, turning, standing, being pushed",
    ),
    "rooms": ("handloom.bench.worlds.rooms", "contacts while driving and carrying through random furnished rooms"),
    "policy": ("handloom.bench.policy", "one step of a walking policy, and of RMPflow at 1 kHz, on one core"),
    "ik": ("handloom.bench.motion.ik", "inverse kinematics of every arm, compared with mink"),
    "collision": ("handloom.bench.motion.collision", "sphere and exact collision checks per second"),
    "plan": ("handloom.bench.motion.plan", "tabletop, shelf and cage planning problems, all paths verified"),
    "trajectory": ("handloom.bench.motion.trajectory", "timing of planned paths, compared with toppra and ruckig"),
}
"""Name > (module with ``run() -> BenchResult``, one-line description)."""
