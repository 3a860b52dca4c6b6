"""Check of whether a hand can grasp and place the objects of a sampled scene; done without physics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene, SceneArm
from handloom.scene.measures import world_box
from handloom.skills import SkillConfig
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs import skill_name
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.picks import PickConfig
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.grasp_poses import annotated_grasps, attainable_grasps, filtered
from handloom.skills.picking.pick import Pick
from handloom.skills.placing.place import Place
from handloom.skills.placing.place_in import NoCavityError
from handloom.skills.registry import skill_class
from handloom.spatial import pose_from_pos_quat
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.joint_rehearsal import imagine_moved, planned_joint, tries_joint, why_not
from handloom.tasks.reach.chosen_arms import with_arms
from handloom.tasks.work_area import reached_band
from handloom.values import Failure

CONFIGURATIONS = 60_000
"""Random arm configurations for measuring the reach; a hundred or more are at the height of a table."""
NEAR_HEIGHT = 0.08
"""Configurations whose fingertips are within this of a height count for it [m]."""
STEEP = 50.0
"""Largest angle from straight down of a hand that comes from above [deg]."""
GRASPS = 8
"""Other grasps checked for reaching the place if the chosen one does not."""
INSIDE = 0.03
"""Margin by which an object should lie within reach [m]."""
STILL = ("home", "wait", "gripper_action", "joint_ctrl", "heuristic__skill")
"""Skills that leave the objects in place."""
FOLLOWED = ("place", "pour")
"""Skills that are tested with the grasp of the pick before them."""
CROWDED = ("grasps_collide", "goal_in_collision", "start_in_collision")
"""Failures possibly caused by an object that will be gone by then."""

SkillKeys = tuple[str | int, ...]


class Trouble(NamedTuple):
    """A skill that cannot be done in a scene."""

    keys: SkillKeys
    """Keys of the skill in the task."""
    text: str
    """The obstacle, with figures, and what to change."""


@dataclass
class ArmReach:
    """Reach of arms, measured once per arm and used for every scene."""

    _tips: dict[tuple[str, str], tuple[Array, Array]] = field(default_factory=dict)
    _known: dict[tuple[str, str, float, bool], float] = field(default_factory=dict)

    def furthest(self, scene: Scene, arm: SceneArm, height: float, *, down: bool) -> float:
        """Return the distances from its base, seen from above, at which an arm can grasp objects [m].

        Args:
            scene: A scene with the arm.
            arm: The arm.
            height: Height of the objects above the arm's base [m].
            down: Whether the hand must point down, to within ``STEEP``.
        """
        key = (arm.robot_name, arm.name, round(height, 2), down)
        if key not in self._known:
            self._known[key] = self._furthest(scene, arm, height, down=down)
        return self._known[key]

    def _furthest(self, scene: Scene, arm: SceneArm, height: float, *, down: bool) -> float:
        key = (arm.robot_name, arm.name)
        if key not in self._tips:
            self._tips[key] = _tips(arm)
        points, directions = self._tips[key]
        R = arm.T_world_base[:3, :3]
        offset = points @ R.T
        fits = np.abs(offset[:, 2] - height) < NEAR_HEIGHT
        if down:
            fits &= (directions @ R.T)[:, 2] < -np.cos(np.deg2rad(STEEP))
        return float(np.linalg.norm(offset[fits, :2], axis=1).max(initial=0.0))


def _tips(arm: SceneArm) -> tuple[Array, Array]:
    """Return tool centres (n, 3) and approach directions (n, 3) of random configurations, in the arm's base."""
    chain = arm.chain()
    lower, upper = chain.sampling_box
    q = np.random.default_rng(0).uniform(lower, upper, (CONFIGURATIONS, len(lower)))
    T = chain.T_base_tool(q, threads=1) @ arm.spec.T_tool_tcp
    return T[:, :3, 3], T[:, :3, :3] @ arm.spec.approach


def comes_down(skill: SkillConfig) -> bool:
    """Return whether the hand of a skill comes from above."""
    approach = getattr(skill, "approach", None)
    return approach == "down" or (isinstance(approach, tuple) and approach[0] == "down")


def heading(offset: Array) -> str:
    """Return a horizontal direction in words, e.g. ``-y and +x``, larger component first."""
    parts = sorted(((abs(offset[k]), f"{'+' if offset[k] > 0 else '-'}{'xy'[k]}") for k in range(2)), reverse=True)
    return " and ".join(word for size, word in parts if size > 0.3 * parts[0][0])


def troubles(task: Task, scene: Scene) -> Iterator[Trouble]:
    """Yield the picks and places of a task that cannot be done in a sampled scene.

    A pick is planned by the skill itself, by inverse kinematics only: width of the hand, approach, reach, collisions.
    For a place or a pour, some pose above the target must be reachable with the object held by such a grasp. Objects
    moved by earlier skills are ignored, but joints are in the positions left by those skills: opening, closing, turning
    and pushing are planned as in an episode.
    """
    rehearsal = _Rehearsal(scene, tuple(f"{entry.name}/" for entry in task.config.objects))
    skills = dict(placed_skills(with_arms(task, scene.instance).config))
    start = scene.world.data.qpos.copy()
    for (written, _), (keys, skill) in zip(placed_skills(task.config), skills.items(), strict=True):
        text = rehearsal.trouble(keys, skill, skills)
        if text:
            yield Trouble(written, text)
    scene.world.data.qpos[:] = start
    scene.world.forward()


@dataclass
class _Rehearsal:
    """State of a scene while its skills are checked in order."""

    scene: Scene
    objects: tuple[str, ...]
    """Objects of the task, as parts of the names of obstacles."""
    moved: set[str] = field(default_factory=set)
    """Objects that earlier skills have taken away."""
    changed: bool = False
    """Whether an earlier skill did more than move objects, such as open a drawer."""
    picks: dict[str, Pick] = field(default_factory=dict)
    """Held objects > the pick that took them."""
    controllers: dict[tuple[str, str], ArmController] = field(default_factory=dict)

    def trouble(self, keys: SkillKeys, skill: SkillConfig, skills: Mapping[SkillKeys, SkillConfig]) -> str:
        """Return what prevents a skill; empty if nothing is known to prevent it."""
        name, objects = skill_name(skill.name), skill.objects
        if name == "pick" and isinstance(skill, PickConfig) and objects[0] not in self.moved:
            text = self._pick(skill, self._controller(keys), skills.get((*keys[:-1], int(keys[-1]) + 1)))
            self.moved.add(objects[0])
            return text
        if name == "place" and isinstance(skill, PlaceConfig) and objects[0] in self.picks:
            pick = self.picks.pop(objects[0])
            # Paths that must keep a part of the pose, and rims, need a more detailed plan than this check makes.
            detailed = skill.rim or pick.config.rim or skill.hold_obj_axis or skill.pre_place_hold_vec_weight
            return "" if detailed or self.changed or objects[1] in self.moved else self._place(skill, pick)
        if name == "pour" and objects[0] in self.picks and not self.changed and objects[1] not in self.moved:
            return self._pour(skill, self.picks[objects[0]])
        if isinstance(skill, ArticulatedSkillConfig) and tries_joint(skill) and objects[0] not in self.moved:
            return self._joint(skill, keys)
        self.moved.update(objects)
        self.changed |= name not in (*STILL, "pick", "place")
        return ""

    def _joint(self, config: ArticulatedSkillConfig, keys: SkillKeys) -> str:
        """Return why a joint cannot be moved; otherwise leave it where the skill moves it."""
        skill = planned_joint(self.scene, self._controller(keys), config)
        if skill.manip_list:
            if skill_name(config.name) != "artpreplan":
                imagine_moved(self.scene, skill, list(self.controllers.values()))
            return ""
        self.moved.add(config.objects[0])
        crowd = skill.failure is not None and skill.failure.reason in CROWDED
        if (crowd or config.name == "close") and (self.changed or len(self.moved) > 1):
            return ""  # Objects put away before may be elsewhere by then.
        own = self.scene.robot(str(keys[2])).arms
        others = [self._controller((*keys[:4], arm.name)) for arm in own if arm.name != keys[4]]
        return why_not(self.scene, skill, others)

    def _pour(self, config: SkillConfig, pick: Pick) -> str:
        """Return why an object cannot be poured out over another after a successful pick; empty if it can."""
        pour = skill_class(config.name)(self.scene, pick.controller, config, np.random.default_rng(0))
        grasps = pick.grasps(pick.config.objects[0])[:GRASPS]
        ways = pour.ways_after(grasps, pick.controller.target) if len(grasps) else None
        if ways is None or np.isfinite(ways).any():
            return ""
        held, target = config.objects[:2]
        return f"{held} can be grasped, but not tilted over {target}: {self._where(target, pick)}"

    def _controller(self, keys: SkillKeys) -> ArmController:
        arm = (str(keys[2]), str(keys[4]))
        if arm not in self.controllers:
            self.controllers[arm] = ArmController(self.scene, self.scene.robot(arm[0]).arm(arm[1]))
        return self.controllers[arm]

    def _pick(self, config: PickConfig, controller: ArmController, following: SkillConfig | None) -> str:
        held = config.objects[0]
        gone = tuple(f"{name}/" for name in sorted(self.moved))
        ignored = (*config.ignore_substring, *gone)
        config = config.model_copy(update={"test_mode": "ik", "ignore_substring": ignored})
        pick = Pick(self.scene, controller, config, np.random.default_rng(0))
        if (
            isinstance(following, PlaceConfig)
            and following.objects[:1] == (held,)
            and following.objects[1] in self.scene.assets
        ):
            # Through a front, objects are grasped from the front.
            pick.follower = Place(self.scene, controller, following, np.random.default_rng(0))
        pick.simple_generate_manip_cmds()
        failure = pick.failure
        if pick.manip_list:
            if following is not None and skill_name(following.name) in FOLLOWED and following.objects[0] == held:
                self.picks[config.objects[0]] = pick
            return ""
        if failure is None or ((self.moved or self.changed) and failure.reason in CROWDED):
            return ""
        if self.changed and failure.reason not in ("no_grasp", "constraints_leave_nothing"):
            return ""
        return self._why_no_grasp(pick, failure)

    def _why_no_grasp(self, pick: Pick, failure: Failure) -> str:
        """Return text about the limit that prevents a grasp, and what to change."""
        name, arm = pick.config.objects[0], pick.controller.arm
        if failure.reason == "no_grasp" and arm.spec.suction is None:
            low, high = world_box(self.scene, name)
            size = " x ".join(f"{length:.3f}" for length in high - low)
            return (
                f"{name} is {size} m and the hand of {arm.robot_name} opens {arm.spec.gripper_max_width:.3f} m: no two "
                "opposite faces of it fit between the fingers; use a smaller one, e.g. with scale: [0.7, 0.7, 0.7], "
                "or give rim: true if it has a rim or an edge"
            )
        if failure.reason == "filters_leave_nothing":
            return self._why_filtered(pick, failure)
        if failure.reason in ("goal_unreachable", "line_unreachable"):
            return f"{name} has grasps, but the hand reaches none of them: {self._where(name, pick)}"
        return f"{name} cannot be grasped: {failure.detail}"

    def _why_filtered(self, pick: Pick, failure: Failure) -> str:
        """Return text about the approach needed for the grasps that the filters exclude."""
        name, controller = pick.config.objects[0], pick.controller
        grasps = annotated_grasps(pick, name, pick.config)
        T_base_tool, taken = attainable_grasps(pick, name, grasps)
        if not taken.any():
            joints = controller.chain.dof
            return f"no grasp of {name} suits the {joints} joints of this arm: {self._where(name, pick)}"
        y = float(T_base_tool[0, 1, 3])
        if filtered(T_base_tool[taken], pick.config, controller.arm, None, y).any():
            return (
                f"{name} has grasps, but in all of them the hand touches what is around it: it lies too flat for this "
                "hand or too near to something; stand it up, or move it, or give rim: true for plates and trays"
            )
        if pick.config.approach is None:
            return f"{name} cannot be grasped: {failure.detail}"
        axes = T_base_tool[taken, :3, :3] @ controller.arm.spec.approach
        steepest = float(np.rad2deg(np.arccos(np.clip(-(axes @ controller.arm.T_world_base[2, :3]), -1.0, 1.0)).min()))
        return (
            f"none of the {int(taken.sum())} grasps of {name} passes approach: {_words(pick.config.approach)}; the "
            f"steepest points {steepest:.0f} degrees off straight down: give approach: side or any, or another object"
        )

    def _place(self, config: PlaceConfig, pick: Pick) -> str:
        """Return why an object cannot be placed after a successful pick; empty if it can."""
        command = next((c for c in pick.manip_list if c.function == "attach_obj"), None)
        if command is None:
            return ""
        chosen = pose_from_pos_quat(command.p_base_tool, command.q_base_tool)[None]
        for grasps in (chosen, pick.grasps(pick.config.objects[0])[:GRASPS]):
            place = Place(self.scene, pick.controller, config, np.random.default_rng(0))
            try:
                if len(grasps) and place.possible_after(grasps, pick.controller.target):
                    return ""
            except NoCavityError as error:
                return str(error)
        held, target = config.objects[:2]
        return f"{held} can be grasped, but the hand reaches no place for it at {target}: {self._where(target, pick)}"

    def _where(self, name: str, pick: Pick) -> str:
        """Return text with the place of an object, the arm's reach in its direction, and where to move the object."""
        arm, place = pick.controller.arm, world_box(self.scene, name).mean(axis=0)
        offset = place - arm.T_world_base[:3, 3]
        distance = float(np.linalg.norm(offset[:2]))
        near, far = self._band(pick.controller, place)
        text = f"it lies {distance:.2f} m from the base of {arm.robot_name}'s {arm.name} arm, which reaches "
        if far == 0.0:
            text += "nothing at that height from above"
            return f"{text}; {self._other_arm(arm, place) or 'move it to another side of the robot'}"
        text += f"from above from {near:.2f} to {far:.2f} m in that direction"
        inside = min(max(distance, near + INSIDE), far - INSIDE)
        if abs(distance - inside) < INSIDE:
            other = "" if "any" in _words(pick.config.approach) else "give approach: any, or "
            return f"{text}: it is not too far, its shape does not suit; {other}use one that can be held from above"
        way = f"move it {abs(distance - inside):.2f} m towards {heading((inside - distance) * offset)}"
        return f"{text}; {self._other_arm(arm, place) or way}"

    def _band(self, controller: ArmController, place: Array) -> tuple[float, float]:
        """Return the range of an arm's reach in the direction of a place (3,), ignoring obstacles [m]."""
        controller.ignored = self.objects
        band = reached_band(controller, (place - controller.arm.T_world_base[:3, 3])[:2], float(place[2]), "down")
        controller.ignored = ()
        return band

    def _other_arm(self, arm: SceneArm, place: Array) -> str:
        """Return text about another arm of the robot that reaches a place (3,); empty if none does."""
        for other in self.scene.robot(arm.robot_name).arms:
            controller = self._controller(("skills", 0, arm.robot_name, 0, other.name))
            near, far = self._band(controller, place)
            if other.name != arm.name and near < np.linalg.norm((place - other.T_world_base[:3, 3])[:2]) < far:
                return f"the other one reaches it: give arm: {other.name}"
        return ""


def _words(approach: object) -> str:
    """Return an approach as written in a task file."""
    return f"[{approach[0]}, {approach[1]:g}]" if isinstance(approach, tuple) else str(approach)
