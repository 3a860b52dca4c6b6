"""Find the arms and grippers of a model from its joint tree."""

import re
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.errors import ConfigError

# Joint names that belong to grippers in public models.
GRIPPER_WORDS = re.compile(r"grip|finger|jaw|knuckle|claw|driver|thumb", re.IGNORECASE)
# A slide joint at the end of a chain that moves less than this is a finger, not a lift [m].
LONGEST_FINGER_STROKE = 0.15
SHORTEST_ARM = 4
# A jaw not identified by name turns less than this [rad], about an axis further from its mass than this [m].
WIDEST_JAW, JAW_LEVER = 3.3, 0.008
_SCALAR = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)


@dataclass(frozen=True, kw_only=True)
class ArmChain:
    """An arm and the gripper at its end, by the model's joint names."""

    joints: tuple[str, ...]
    """From base to wrist."""
    gripper_joints: tuple[str, ...]
    """Every joint below the wrist."""
    base_body: str
    """Parent of the first joint's body."""
    hand_body: str
    """Body that carries the fingers."""


class JointGraph:
    """The joint tree and its finger joints."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self.joints = [j for j in range(model.njnt) if model.jnt_type[j] in _SCALAR]
        self.parent = {j: self._joint_above(j) for j in self.joints}

    def _joint_above(self, joint: int) -> int | None:
        model = self.model
        body = int(model.jnt_bodyid[joint])
        if joint > model.body_jntadr[body]:
            return joint - 1 if model.jnt_type[joint - 1] in _SCALAR else None
        body = int(model.body_parentid[body])
        while body > 0:
            if model.body_jntnum[body] > 0:
                last = int(model.body_jntadr[body] + model.body_jntnum[body] - 1)
                return last if model.jnt_type[last] in _SCALAR else None
            body = int(model.body_parentid[body])
        return None

    def below(self, joint: int | None) -> list[int]:
        """Return the joints below a joint, without the joint itself; all joints for None."""
        return [j for j in self.joints if self._is_below(j, joint)]

    def _is_below(self, joint: int, other: int | None) -> bool:
        above = self.parent[joint]
        while above is not None and above != other:
            above = self.parent[above]
        return other is None or above == other

    def is_finger(self, joint: int) -> bool:
        """Return whether a joint looks like a part of a gripper."""
        model = self.model
        if GRIPPER_WORDS.search(model.joint(joint).name):
            return True
        stroke = float(model.jnt_range[joint, 1] - model.jnt_range[joint, 0])
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE.value
        return slides and model.jnt_limited[joint] and stroke < LONGEST_FINGER_STROKE and not self.below(joint)

    def wrists(self) -> list[int]:
        """Return, for each gripper, the last arm joint above it, in model order."""
        found: list[int] = []
        for joint in self.joints:
            above = self.parent[joint]
            if self.is_finger(joint) and above is not None and not self.is_finger(above) and above not in found:
                found.append(above)
        found = found or [wrist for j in self.joints if self._is_jaw(j) and (wrist := self.parent[j]) is not None]
        # A linkage has unnamed joints below named ones; the outermost of nested candidates is the wrist.
        return [w for w in found if not any(w in self.below(other) for other in found if other != w)]

    def _is_jaw(self, joint: int) -> bool:
        """Return whether a joint that its name does not identify is the last one and moves a jaw.

        The last joint of an arm without a gripper turns the flange about its own axis, by a large angle.
        """
        model = self.model
        body, stroke = int(model.jnt_bodyid[joint]), float(np.ptp(model.jnt_range[joint]))
        hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE.value
        if self.below(joint) or not hinge or not model.jnt_limited[joint] or stroke > WIDEST_JAW:
            return False
        wrist = self.parent[joint]
        if wrist is None or len(self.arm_of(wrist, [wrist])) < SHORTEST_ARM:
            return False
        lever = np.cross(model.jnt_axis[joint], model.body_ipos[body] - model.jnt_pos[joint])
        return bool(GRIPPER_WORDS.search(model.body(body).name)) or float(np.linalg.norm(lever)) > JAW_LEVER

    def ends(self) -> list[str]:
        """Return the bodies at the ends of the chains of joints, to which a gripper can be fixed."""
        leaves = [j for j in self.joints if not self.below(j)]
        return [self.model.body(self.model.jnt_bodyid[j]).name for j in leaves]

    def arm_of(self, wrist: int, wrists: list[int]) -> list[int]:
        """Return the hinges from shoulder to wrist, without joints shared with another arm and without lifts."""
        chain = [wrist]
        above = self.parent[wrist]
        while above is not None and self.model.jnt_type[above] == mujoco.mjtJoint.mjJNT_HINGE.value:
            if any(other != wrist and other in self.below(above) for other in wrists):
                break
            chain.insert(0, above)
            above = self.parent[above]
        return chain


def find_arms(model: mujoco.MjModel) -> tuple[ArmChain, ...]:
    """Return one or two arms with grippers, left (larger y of the hand at the zero position) first.

    Raises:
        ConfigError: No gripper, no arm, or more than two arms.
    """
    tree = JointGraph(model)
    wrists = tree.wrists()
    if not wrists:
        names = ", ".join(model.joint(j).name for j in tree.joints)
        ends = tree.ends()
        attach = f"; if it has none, add one: --gripper FILE --at {ends[0]}" if ends else ""
        other = f" (or {', '.join(ends[1:4])})" if len(ends) > 1 else ""
        raise ConfigError(f"found no gripper at the end of a chain of joints; joints: {names or 'none'}{attach}{other}")
    if len(wrists) > 2:
        raise ConfigError(f"found {len(wrists)} grippers; a robot has one or two arms")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    chains = [_chain(tree, wrist, wrists) for wrist in wrists]
    return tuple(sorted(chains, key=lambda c: -float(data.body(c.hand_body).xpos[1])))


def _chain(tree: JointGraph, wrist: int, wrists: list[int]) -> ArmChain:
    model = tree.model
    joints = tree.arm_of(wrist, wrists)
    if len(joints) < SHORTEST_ARM:
        found = ", ".join(model.joint(j).name for j in joints)
        raise ConfigError(f"the chain above {model.joint(wrist).name!r} has only the joints {found}; an arm has four")
    grippers = tree.below(wrist)
    base = model.body(model.body_parentid[model.jnt_bodyid[joints[0]]]).name
    return ArmChain(
        joints=tuple(model.joint(j).name for j in joints),
        gripper_joints=tuple(model.joint(j).name for j in grippers),
        base_body=base,
        hand_body=_common_parent(model, [int(model.jnt_bodyid[j]) for j in grippers]),
    )


def _common_parent(model: mujoco.MjModel, bodies: list[int]) -> str:
    """Return the deepest common ancestor of these bodies."""
    paths = []
    for body in bodies:
        path, above = [], int(model.body_parentid[body])
        while above > 0:
            path.insert(0, above)
            above = int(model.body_parentid[above])
        paths.append(path)
    shared = [bodies_at for bodies_at in zip(*paths, strict=False) if len(set(bodies_at)) == 1]
    return model.body(shared[-1][0]).name
