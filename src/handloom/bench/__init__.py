"""Benchmarks, beside peers where they are installed: ``handloom bench NAME``."""

BENCHES: dict[str, tuple[str, str]] = {
    "engine": ("handloom.bench.engine", "episodes per hour, robot hours, time budget by stage, scaling"),
    "tasks": ("handloom.bench.tasks", "success of the scripted expert on every task, its cost, why attempts fail"),
    "pack": (
        "handloom.bench.library.pack",
        "success of the expert on a pack of tasks, beside what others published for them",
    ),
    "deeds": ("handloom.bench.library.deeds", "success of the expert on the library's deeds, robot by robot"),
    "check": ("handloom.bench.library.check", "what check says of the library's deeds, beside how often they succeed"),
    "data": (
        "handloom.bench.datasets.data",
        "what demonstrations are worth: views, idle time, detours, landing, words",
    ),
    "scenes": (
        "handloom.bench.worlds.scenes",
        "sampling and building scenes, overlap and drift at rest, reading task files",
    ),
    "kitchens": (
        "handloom.bench.worlds.kitchens",
        "sampled kitchens: what overlaps, what is blocked, rest, time, pictures",
    ),
    "dataset": ("handloom.bench.datasets.dataset", "encode, write, merge and read episodes"),
    "labels": ("handloom.bench.datasets.labels", "labels of every kind, on top of drawing and encoding"),
    "render": ("handloom.bench.render", "frames per second and core, beside the classic renderer"),
    "retarget": ("handloom.bench.retarget", "one frame of a retargeting graph of 20 nodes"),
    "teleop": (
        "handloom.bench.teleop",
        "latency from the page to the robot, pictures per second, over a socket on this machine",
    ),
    "walking": ("handloom.bench.walking", "attempts of the legged robots at walking, turning, standing, being pushed"),
    "rooms": ("handloom.bench.worlds.rooms", "driving and carrying through random furnished rooms, contacts counted"),
    "policy": ("handloom.bench.policy", "one step of a walking policy, and of RMPflow at 1 kHz, on one core"),
    "ik": ("handloom.bench.motion.ik", "inverse kinematics of every arm, beside mink"),
    "collision": ("handloom.bench.motion.collision", "sphere and exact collision checks per second"),
    "plan": ("handloom.bench.motion.plan", "tabletop, shelf and cage planning problems, all paths verified"),
    "trajectory": ("handloom.bench.motion.trajectory", "timing of planned paths, beside toppra and ruckig"),
}
"""Name > (module with ``run() -> BenchResult``, one line about it)."""
