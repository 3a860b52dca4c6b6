"""The tasks of the library before the oracle: ``python tests/oracle/library.py ATTEMPTS SEED [NAME ...]``.

The deeds are read from the skills as their pages describe them. A place that does not say what success means, and a
motion that changes nothing, ask for nothing here.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import Attempt, Tally, goal_holds, oracle_of, say

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import Scene
from handloom.tasks import SamplingError, Task, library, load_task

JOINT_VERBS = {"open": "open", "close": "close", "rotate": "turn"}
PLACES = {"inside": "within", "resting": "rest", "beside": "beside"}
PICKS = ("pick", "dynamicpick")
MOVES = ("place", "pour", "hang", "carry", "flip", "scan", "move", "dexplace", "rotate__obj", "gripper__action")
"""Skills after which an object is no longer just held."""


def library_deeds(task: Task, scene: Scene) -> tuple[Deed, ...]:
    """Return what the skills of a task leave behind, as far as the oracle can tell."""
    deeds: dict[tuple[str, str], Deed] = {}
    skills: list[Any] = [
        skill
        for stage in task.config.skills
        for blocks in stage.values()
        for block in blocks
        for lane in block.values()
        for skill in lane
    ]
    for skill in skills:
        objects = [str(name) for name in getattr(skill, "objects", ())]
        if not objects or objects[0] not in scene.assets:
            continue
        name, key = objects[0], (objects[0], "")
        if skill.name in JOINT_VERBS and getattr(skill, "planner_setting", None) is None:
            joint = skill.joint or scene.assets[name].joints[0].name
            kind = JOINT_VERBS[skill.name]
            deeds[name, joint] = Deed(kind=kind, obj=name, part=joint, amount=skill.amount, by=_turned_by(skill))  # pyright: ignore
        elif skill.name == "place" and skill.success_mode in PLACES:
            part = skill.place_part_prim_path or ""
            part = part if part.startswith("drawer") else ""
            kind, share = PLACES[skill.success_mode], skill.success_th or 0.5
            deeds[key] = Deed(kind=kind, obj=name, target=objects[1], part=part, amount=share)  # pyright: ignore
        elif skill.name == "pour":
            deeds[key] = Deed(kind="pour", obj=name, target=objects[1])
        elif skill.name in PICKS:
            deeds[key] = Deed(kind="pick", obj=name)
        elif skill.name in MOVES or len(objects) > 1:
            deeds.pop(key, None)
    return tuple(deeds.values())


def _turned_by(skill: Any) -> float:
    """Return the angle by which a skill turns something, if it says one [deg]."""
    return float(skill.by or 0.0) if skill.name == "rotate" else 0.0


def main() -> int:
    """Run and print; the exit status is 1 where there is a false success."""
    words = sys.argv[1:]
    attempts, seed = int(words[0]), int(words[1])
    tally = Tally()
    for name in words[2:] or sorted(library()):
        task = load_task(name)
        for episode in range(attempts):
            try:
                scene, record = simulate(task, seed, episode, Stopwatch())
            except SamplingError as error:
                say(f"{name} {episode}: {error}")
                continue
            deeds = library_deeds(task, scene)
            if not deeds:
                say(f"{name}: nothing for the oracle to see")
                break
            scene.world.restore_state(record.states[-1])
            content = goal_holds(scene, record.goal)
            verdict = oracle_of(scene, record.states[-1], record.states[0]).judge(deeds)
            reason = "" if record.failure is None else record.failure.reason
            tried = Attempt(seed, episode, record.success, content, reason, verdict)
            tally.add(name, tried)
            odd = tried.false_success or tried.false_failure or verdict.done is None or record.success != content
            say(f"{name} {episode}: judge {record.success}/{content} {reason}, oracle {verdict.done}"
                + (f" ODD {verdict.why}" if odd else ""))  # fmt: skip
    say("\n".join(tally.lines()))
    return int(any(count["false_success"] for count in tally.counts.values()))


if __name__ == "__main__":
    sys.exit(main())
