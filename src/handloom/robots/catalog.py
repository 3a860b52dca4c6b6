"""Which robots ship with Handloom, and which zoo folder stands for which published class."""

# Name on the command line and in task files > folder in zoo/.
ZOO: dict[str, str] = {
    "fr3": "fr3",
    "fr3_suction": "fr3_suction",
    "franka_robotiq85": "franka_robotiq85",
    "genie1": "genie1",
    "go2": "go2",
    "h1": "h1",
    "jetbot": "jetbot",
    "kaya": "kaya",
    "leatherback": "leatherback",
    "nova_carter": "nova_carter",
    "lift2": "lift2",
    "so101": "so101",
    "split_aloha": "split_aloha",
}

# Published wrapper class (``target_class``) > folder in zoo/ whose model and names stand for it.
TARGET_CLASSES: dict[str, str] = {
    "FR3": "fr3",
    "FR3Suction": "fr3_suction",
    "FrankaRobotiq85": "franka_robotiq85",
    "FrankaRobotiq": "franka_robotiq85",
    "Genie1": "genie1",
    "Lift2": "lift2",
    "SO101": "so101",
    "SplitAloha": "split_aloha",
}


def robot_names() -> tuple[str, ...]:
    """Return the names of the robots that ship with Handloom, sorted."""
    return tuple(sorted(ZOO))
