"""Hang a held object on a peg."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Move
from handloom.objects import ObjectAsset
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.configs.places import HangConfig
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.placing.leaving import Releases
from handloom.skills.skill import command_at
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, transform_points, translation
from handloom.values import Check, Command

CANDIDATES = 32
"""Paths tested, half of them with the object on one side of the peg and half on the other."""
PULL = 0.1
"""A hand whose retreat has a larger component than this along the peg takes the object with it."""
RAISED = 0.05
"""Minimum height of the hanging object above the foot of the target [m]."""
STILL = 0.05
"""Largest speed of a hanging object [m/s]."""
ROOT = "_root"
"""End of the name of the keypoint at which a peg leaves the target."""


class Hang(Releases[HangConfig]):
    """Bring the object in front of a peg, slide its handle onto it, release, draw back, wait until it hangs still."""

    Config: ClassVar = HangConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose a peg and a path onto it, and write the commands."""
        config, controller = self.config, self.controller
        name = config.objects[0]
        T_base_world = invert_pose(controller.arm.T_world_base)
        T_tool_object = invert_pose(controller.tool_pose()) @ T_base_world @ self.scene.object_pose(name)
        before, on = (T_base_world @ T @ invert_pose(T_tool_object) for T in self._object_poses())
        # Small rotations first, as in place; last, hands that would pull the object off again.
        outward = before[:, :3, 3] - on[:, :3, 3]
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        pulls = np.einsum("nij,j,ni->n", on[:, :3, :3], -controller.arm.spec.approach, outward) > PULL
        turning = -np.einsum("nij,ij->n", before[:, :3, :3], controller.tool_pose()[:3, :3])
        order = np.lexsort((turning, pulls))
        before, on = before[order], on[order]
        away = on @ translation(-config.retreat * controller.arm.spec.approach)
        controller.ignored = config.ignore_substring
        left = controller.obstacles_of(name)
        moves = [Move(T_base_tool=before), Move(T_base_tool=on, straight=True)]
        moves.append(Move(T_base_tool=away, straight=True, released=left))
        chosen = choose(self, moves)
        if chosen is not None:
            poses = (before[chosen.index], on[chosen.index], away[chosen.index])
            commands = self._commands(*poses, chosen)
            self.manip_list = commands[:3] if config.approach_only else commands

    def released(self) -> tuple[str, ...]:
        """Return the object, if it is hung up."""
        return () if self.config.approach_only else self.config.objects[:1]

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object touches the target and no finger, high above its foot, and hangs still."""
        config, arm = self.config, self.controller.arm
        held, target = config.objects[:2]
        side = {"robot": arm.robot_name, "arm": arm.name, "object": held}
        calm = (self.calm(held),) if config.process_valid else ()
        if config.approach_only:
            return (Check(name="grasped", arguments=side), *calm)
        return (
            Check(name="touches", arguments={"object": held, "target": target}),
            Check(name="released", arguments=side),
            Check(name="raised_above", arguments={"object": held, "target": target, "by": RAISED}),
            Check(name="lying_still", arguments={"objects": [held], "speed": STILL}),
            *calm,
        )

    def _object_poses(self) -> tuple[Array, Array]:
        """Return T_world_object (n, 4, 4) in front of the peg and on it, for either side of the object."""
        config = self.config
        held, target = (self.scene.assets[name] for name in config.objects[:2])
        hole, axis = np.array(_known(held, "hole")), _direction(held, "hole")
        upright, hanging = _direction(held, "up"), hole - self._centre_of_mass()
        # Signed angle about the hole's axis from upright to hanging, the centre of mass below the hole.
        turn = float(np.arctan2(np.cross(upright, hanging) @ axis, upright @ hanging))
        T_world_target = self.scene.object_pose(config.objects[1])
        before, on = [], []
        for k in range(CANDIDATES):
            root, tip = transform_points(T_world_target, self._peg(target))
            along = tip - root
            length, slope = float(np.linalg.norm(along)), float(np.arctan2(along[2], np.hypot(along[0], along[1])))
            along /= length
            ahead = np.array([along[0], along[1], 0.0]) / np.hypot(along[0], along[1])
            # Between upright, and tilted as the peg is.
            tilt = self.rng.uniform(0.0, 1.0) * slope
            through = np.cos(tilt) * ahead + np.sin(tilt) * np.array([0.0, 0.0, 1.0])
            turned = matrix_from_rotvec(axis * turn * self.rng.uniform(*config.roll)) @ upright
            up = np.cos(tilt) * np.array([0.0, 0.0, 1.0]) - np.sin(tilt) * ahead
            R = _frame(through if k % 2 == 0 else -through, up) @ _frame(axis, turned).T
            rest = root + self.rng.uniform(*config.share) * length * along - config.drop * up
            on.append(make_pose(R, rest - R @ hole))
            start = tip + config.pre_distance * along - config.drop * up
            before.append(make_pose(R, start - R @ hole))
        return np.stack(before), np.stack(on)

    def _centre_of_mass(self) -> Array:
        """Return the centre of mass (3,) of the held object in its own frame [m]."""
        world, name = self.scene.world, self.config.objects[0]
        return np.array(world.model.body_ipos[world.body_index(self.scene.body_of(name))])

    def _peg(self, target: ObjectAsset) -> Array:
        """Return root and tip (2, 3) [m] of the peg of the config, or of any, in the target."""
        peg = self.config.peg
        pegs = [name.removesuffix(ROOT) for name in target.keypoints if name.endswith(ROOT)]
        if peg is None and pegs:
            peg = pegs[int(self.rng.integers(len(pegs)))]
        if peg not in pegs:
            raise ConfigError(f"hang: {target.name} has no peg {peg!r}; it has {', '.join(pegs) or 'none'}")
        return np.array([_known(target, peg + ROOT), _known(target, peg)])

    def _commands(self, before: Array, on: Array, away: Array, chosen: Chosen) -> list[Command]:
        config, own = self.config, self.config.ignore_substring
        opened = {"drive": Preshape.for_rims(gripper_of(self)).drive} if config.rim else {}
        without = (*own, *self.controller.obstacles_of(config.objects[0]))
        return [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=own),
            command_at(before, "close_gripper", **chosen.params(0)),
            command_at(on, "close_gripper", straight=True, **chosen.params(1)),
            *[command_at(on, "open_gripper", **opened)] * self.frames(config.gripper_change_steps),
            command_at(on, "detach_obj"),
            command_at(on, "update_specific", ignore_substring=without),
            command_at(away, "open_gripper", straight=True, **chosen.params(2), **opened),
            *[command_at(away, "open_gripper")] * self.frames(config.settle_steps),
        ]


def _known(asset: ObjectAsset, name: str) -> tuple[float, float, float]:
    if name not in asset.keypoints:
        raise ConfigError(f"hang: {asset.name} has no keypoint {name!r}; it has {', '.join(sorted(asset.keypoints))}")
    return asset.keypoints[name].position


def _direction(asset: ObjectAsset, name: str) -> Array:
    if name not in asset.axes:
        raise ConfigError(f"hang: {asset.name} has no axis {name!r}; it has {', '.join(sorted(asset.axes))}")
    return np.array(asset.axes[name].direction, float)


def _frame(first: Array, second: Array) -> Array:
    """Return the rotation (3, 3) whose first columns are two unit vectors at right angles."""
    return np.stack([first, second, np.asarray(np.cross(first, second), float)], axis=1)
