"""Grasp an object that moves: wait for it, meet it, move along while the fingers close, lift it."""

from collections import deque
from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.arms.arm_controller import CLOSED, OPEN, Way
from handloom.skills.arms.arm_motion import imagined_at, play
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.arms.orientations import widened
from handloom.skills.configs.picks import DynamicPickConfig
from handloom.skills.picking.grasp_moves import GraspMoves
from handloom.skills.picking.grasp_poses import (
    Source,
    annotated_grasps,
    attainable_grasps,
    clear_grasps,
    drawn_by_score,
    filtered,
    gripper_of,
)
from handloom.skills.picking.meeting import Carried, Meeting, Motion, evenly, lasting, stretched
from handloom.skills.picking.pick import WIDER_FILTERS
from handloom.skills.skill import Skill, between, command_at, plan_failure
from handloom.spatial import invert_pose, matrix_from_rotvec, translation
from handloom.values import Check, Command, FunnelStage

NEAR = 0.5
"""Distance of an object before the hand's start at which the meeting is planned [m]; published value."""
WATCHED = 8
"""Frames over which the object's velocity is measured."""
ROLLING = np.deg2rad(4.0)
"""An object that turns about a level axis by more than this while being observed counts as rolling."""
SLOWEST = 0.005
"""The hand does not wait for objects slower than this [m/s]."""
LEAST = 0.06
"""An object that slows down is met while its speed exceeds this [m/s]."""
STEADY = 0.2
"""Largest relative change of velocity over the observed frames: an accelerating object is observed further."""
APPROACH_SECONDS = 0.6
"""Shortest duration of the straight approach, during which the hand moves along with the object."""
TESTED = 64
"""Maximum number of candidates that are tested."""
TRIES = 3
"""Meeting points that are drawn before giving up."""
CARRIED_TRIES = 8
"""The same for an object in another hand, as the hands must not come too near to each other."""
CARRIED_SPEED = 0.01
"""Minimum speed of an object in another hand while it is taken [m/s]."""
MET = 0.05
"""Fraction of the skill's frames in which it must move that fast between the fingers."""
FORESEEN = 24
"""Grasps of it that are considered with the arm's next skill in mind."""
KNOT = 3
"""Frames between two solved poses along the path of another hand."""
HOPELESS = 1000
"""Failures in a row that end the skill at once; published value."""


class DynamicPick(Skill[DynamicPickConfig]):
    """The published dynamic pick, for objects that move steadily, as on a belt, or roll.

    Places are measured along the object's path, which on a belt along world x is the published x. An object that does
    not turn is assumed to keep its velocity and its orientation until it is grasped. One that turns is assumed to roll:
    its middle continues straight and slows down as observed. Published files without ``tcp_offset`` mean 0.125 m on
    every robot; here they mean the robot's own.

    An object that another arm holds is met while that arm moves, and followed to the end of its planned motion. It is
    not lifted, as the other hand must still release it (ours).
    """

    Config: ClassVar = DynamicPickConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Record the poses of hand and object; commands are made once the object comes near."""
        config, name = self.config, self.config.objects[0]
        self._from_z = float(self.scene.object_pose(name)[2, 3])
        self._start = (self.controller.arm.T_world_base @ self.controller.commanded_pose)[:3, 3]
        self._lift = float(between(self.rng, config.post_grasp_offset_min, config.post_grasp_offset_max))
        self._seen: deque[tuple[float, Array, Array]] = deque(maxlen=WATCHED)
        """Time [s], pose (4, 4) and middle (3,) [m] of the object in the last frames."""
        self._meeting: Meeting | None = None
        self._begun = False
        self._holder = next((arm for arm in self.neighbours if name in arm.held), None)

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the fingers hold the object, robot and object are at rest, and it was lifted."""
        config = self.config
        moves = GraspMoves(
            object=config.objects[0],
            pre_grasp_offset=config.pre_grasp_offset,
            close_steps=self.frames(config.gripper_change_steps),
            lift=self._lift,
        )
        terms = moves.checks(self, from_z=self._from_z, lift_th=config.lift_th, process_valid=config.process_valid)
        if self._holder is None:
            return terms
        arm = self.controller.arm
        met = {"robot": arm.robot_name, "arm": arm.name, "object": config.objects[0], "speed": CARRIED_SPEED}
        return (*terms, Check(name="grasped_moving", arguments=met, share=MET))

    def is_done(self) -> bool:
        """Return whether the lift has ended."""
        return self._begun and super().is_done()

    def is_ready(self) -> bool:
        """Return whether it is time to start, after planning the meeting once the object is near."""
        if self._begun:
            return True
        if self._holder is not None:
            return self._holder.moving and self._begin(self._planned_beside(Carried.by(self._holder, self._name)))
        motion = self._watch()
        if motion is None or motion.speed < SLOWEST:
            return False
        if self._meeting is None:
            if motion.way < -NEAR:
                return False
            self._meeting = self._planned(motion)
        if self._meeting is not None and motion.way < self._meeting.begin:
            return False
        return self._begin(self._meeting)

    @property
    def _name(self) -> str:
        return self.config.objects[0]

    def _begin(self, meeting: Meeting | None) -> bool:
        """Write the commands of a meeting, or give up if there is none; return that it has begun."""
        self._begun = True
        if meeting is None:
            self.manip_list = [self.stay("open_gripper")]
            self.controller.num_plan_failed = HOPELESS
        else:
            self.manip_list = self._commands(meeting)
        return True

    def _watch(self) -> Motion | None:
        """Return the motion of the object; None until it is steady."""
        now = float(self.scene.world.data.time)
        if not self._seen or now > self._seen[-1][0]:  # This may be called more than once per frame.
            name = self.config.objects[0]
            middle = self.scene.world.data.xipos[self.scene.world.body_index(f"{name}/object")].copy()
            self._seen.append((now, self.scene.object_pose(name).copy(), middle))
        if len(self._seen) < WATCHED:
            return None
        times, T, middles = (np.array(column) for column in zip(*self._seen, strict=True))
        rolls = float((T[:, 2, :3] @ T[0, 2, :3]).min()) < np.cos(ROLLING)
        p = middles if rolls else T[:, :3, 3]
        v = np.diff(p, axis=0) / np.diff(times)[:, None]
        velocity = v.mean(axis=0)
        speed = float(np.linalg.norm(velocity))
        if np.linalg.norm(v - velocity, axis=1).max() > STEADY * speed:
            return None
        way = float((p[-1] - self._start) @ velocity) / max(speed, 1e-9)
        if not rolls:
            return Motion(way=way, velocity=velocity)
        between_frames = (times[1:] + times[:-1]) / 2
        slope, offset = np.polyfit(between_frames - times[-1], v @ velocity / speed, 1)
        return Motion(way=way, velocity=velocity * (offset / speed), slowing=max(-float(slope), 0.0))

    def _planned(self, motion: Motion) -> Meeting | None:
        """Return a meeting that is still possible; None after :meth:`fail`."""
        config, velocity = self.config, motion.velocity
        # Published offsets are along world x, whichever way the belt runs.
        sign = 1.0 if velocity[int(np.argmax(np.abs(velocity[:2])))] > 0 else -1.0
        places = sign * np.array(config.pick_range)
        if motion.slowing > 0.0:
            # It must still be moving; if the hand would be late, a place further on leaves more time.
            places = np.minimum(places, motion.way + (motion.speed**2 - LEAST**2) / (2.0 * motion.slowing))
        draws = between(self.rng, places[0], places[1], (TRIES,))
        for place in np.sort(draws) if motion.slowing > 0.0 else draws:
            meeting = self._planned_at(float(place), motion)
            if meeting is None:
                continue
            if meeting.begin >= motion.way - motion.speed / self.scene.instance.fps:
                self.failure = None
                return meeting
            late = (motion.way - meeting.begin) / motion.speed
            detail = f"the hand would meet {config.objects[0]} {late:.2f} s too late; move pick_range further on"
            self.fail(FunnelStage.PLAN, "too_late", detail)
        return None

    def _planned_at(self, place: float, motion: Motion) -> Meeting | None:
        """Return the moves that grasp the object at a place along its path [m]; None after :meth:`fail`."""
        config, controller, name = self.config, self.controller, self.config.objects[0]
        fps, approach = self.scene.instance.fps, controller.arm.spec.approach
        direction = motion.velocity / np.linalg.norm(motion.velocity)
        speed, slowing = motion.speed_at(place), motion.slowing
        if speed < SLOWEST:
            detail = f"{name} comes to rest before it is {place:.2f} m beyond the hand's start; move pick_range nearer"
            self.fail(FunnelStage.PLAN, "too_slow", detail)
            return None
        v_base = controller.arm.T_world_base[:3, :3].T @ motion.velocity
        if slowing:
            v_base *= speed / motion.speed
        grasps = self._grasps(name, direction * (place - motion.way))
        if len(grasps) == 0:
            return None
        ride = grasps.copy()
        ride[:, :3, 3] += v_base * lasting(self.frames(config.gripper_change_steps) / fps, slowing, speed)
        lifted = ride.copy()
        lifted[:, 2, 3] += self._lift
        before = grasps @ translation(-config.pre_grasp_offset * approach)
        before[:, :3, 3] += v_base * lasting(-APPROACH_SECONDS, slowing, speed)
        itself = controller.obstacles_of(name)
        moves = [
            Move(T_base_tool=before, ignore=itself),
            Move(T_base_tool=grasps, straight=True, ignore=itself),
            Move(T_base_tool=ride, straight=True, ignore=itself),
            Move(T_base_tool=lifted, straight=True, ignore=itself),
        ]
        chosen = self._chosen(moves)
        if chosen is None:
            return None
        paths = [path for path in chosen.paths if path is not None]
        free, down = (play(path, controller.limits, fps=fps) for path in paths[:2])
        if slowing:
            down = evenly(paths[1], round(APPROACH_SECONDS * fps))
        else:
            down = stretched(np.vstack([free[-1], down]), round(APPROACH_SECONDS * fps))
        targets = np.vstack([free, down])
        seconds = len(targets) / fps + config.time_bias
        return Meeting(
            begin=place + speed * lasting(-seconds, slowing, speed) + config.pick_bias,
            targets=targets,
            ride=stretched(np.vstack([paths[2][:1], paths[2]]), self.frames(config.gripper_change_steps)),
            lift=paths[3],
            lifted=lifted[chosen.index],
        )

    def _planned_beside(self, carried: Carried) -> Meeting | None:
        """Return a meeting with an object in a moving hand; None after :meth:`fail`."""
        name, (low, high) = self._name, sorted(self.config.pick_range)
        x = carried.poses[:, 0, 3] - self._start[0]
        frames = np.flatnonzero((x >= low) & (x <= high))
        if len(frames) == 0:
            detail = (
                f"{name} is carried from {x[0]:+.2f} to {x[-1]:+.2f} m beside the hand's start; move pick_range there"
            )
            self.fail(FunnelStage.PLAN, "never_there", detail)
            return None
        itself = self.controller.obstacles_of(name)
        for frame in np.sort(self.rng.choice(frames, CARRIED_TRIES)).tolist():
            with imagined_at(self.scene, carried.holder.arm, carried.joints[frame], name, carried.poses[frame]):
                meeting = self._planned_in(frame, carried)
            if meeting is None:
                continue
            self.failure, self.controller.ignored = None, itself
            if self.controller.way(np.vstack([meeting.targets, meeting.ride])) is Way.FREE:
                return meeting
            self.fail(FunnelStage.PLAN, "arms_meet", f"the hands would come too near to each other at {name}")
        return None

    def _planned_in(self, frame: int, carried: Carried) -> Meeting | None:
        """Return the moves that close the hand on the object a few frames from now; None after :meth:`fail`.

        The scene shows the object and the other arm at that time.
        """
        config, controller, name = self.config, self.controller, self._name
        fps, T_world_base = self.scene.instance.fps, controller.arm.T_world_base
        grasps, slow = self._leading_on(self._grasps(name, np.zeros(3))), round(APPROACH_SECONDS * fps)
        if len(grasps) == 0:
            return None

        def along(T_base_tool: Array, at: int) -> Array:
            """Return hand poses (..., 4, 4) beside the object in another frame."""
            return invert_pose(T_world_base) @ carried.moved(frame, at) @ T_world_base @ T_base_tool

        before = grasps @ translation(-config.pre_grasp_offset * controller.arm.spec.approach)
        itself = controller.obstacles_of(name)
        moves = [
            Move(T_base_tool=along(before, max(frame - slow, 0)), ignore=itself),
            Move(T_base_tool=grasps, straight=True, ignore=itself),
        ]
        chosen = self._chosen(moves)
        if chosen is None:
            return None
        paths = [path for path in chosen.paths if path is not None]
        free, down = (play(path, controller.limits, fps=fps) for path in paths)
        targets = np.vstack([free, stretched(np.vstack([free[-1], down]), slow)])
        late = len(targets) - frame
        if late > 0:
            detail = f"the hand would meet {name} {late / fps:.2f} s too late; carry it more slowly or further"
            self.fail(FunnelStage.PLAN, "too_late", detail)
            return None
        targets = np.vstack([np.repeat(controller.target[None], -late, axis=0), targets])
        ends = [*range(frame + KNOT, len(carried.poses) - 1, KNOT), len(carried.poses) - 1]
        rows, at = [paths[1][-1]], frame
        for end in ends:
            way = controller.planner.plan_straight(rows[-1], along(grasps[chosen.index], end), ignore=itself)
            if not way.ok:
                self.failure = plan_failure(way)
                return None
            share = np.arange(1, end - at + 1)[:, None] / (end - at)
            rows, at = [*rows, *(rows[-1] + share * (way.path[-1] - rows[-1]))], end
        ride = np.array(rows[1:])
        ride = np.vstack(
            [ride, np.repeat(ride[-1:], max(self.frames(config.gripper_change_steps) - len(ride), 0), axis=0)]
        )
        return Meeting(
            begin=-np.inf, targets=targets, ride=ride, lift=ride[-1:], lifted=controller.chain.T_base_tool(ride[-1])
        )

    def _leading_on(self, grasps: Array) -> Array:
        """Return the grasps (n, 4, 4) from which the arm can do its next skill; all of them if none is known to."""
        after = self.follower
        if after is None or len(grasps) == 0 or self._name not in after.config.objects[:1]:
            return grasps
        ways = after.ways_after(grasps[:FORESEEN], self.controller.target)
        return grasps if ways is None or not np.isfinite(ways).any() else grasps[:FORESEEN][np.isfinite(ways)]

    def _chosen(self, moves: list[Move]) -> Chosen | None:
        """Return the first candidate whose whole meeting can be planned; with ``ik``, plan the first in reach."""
        if self.config.test_mode == "forward":
            return choose(self, moves)
        tested = choose(self, moves, test_mode="ik")
        if tested is None:
            return None
        one = [replace(move, T_base_tool=np.asarray(move.T_base_tool)[[tested.index]]) for move in moves]
        planned = choose(self, one)
        return planned and replace(planned, index=tested.index)

    def _grasps(self, name: str, moved: Array) -> Array:
        """Return grasps T_base_tool (n, 4, 4) of the object after a further motion (3,) [m]; none after :meth:`fail`.

        For a stand-in, grasps of the object in its resting pose are considered too, and the filters, written for
        another object's grasps, are widened.
        """
        grasps = self._passing_grasps(name, moved, self.config, "any")
        if len(grasps) or not self.scene.assets[name].stands_in:
            return grasps
        for degrees in (0.0, *np.cumsum(WIDER_FILTERS)):
            self.failure = None
            grasps = self._passing_grasps(name, moved, widened(self.config, float(degrees)), "lying")
            if len(grasps):
                break
        return grasps

    def _passing_grasps(self, name: str, moved: Array, config: DynamicPickConfig, source: Source) -> Array:
        """Return grasps (n, 4, 4) of one kind that pass filters and touch nothing around the object."""
        arm = self.controller.arm
        grasps = annotated_grasps(self, name, config, source=source)
        T_base_tool = grasps.T_base_tool
        if len(T_base_tool) == 0:
            return T_base_tool
        T_base_tool[:, :3, 3] += arm.T_world_base[:3, :3].T @ moved
        grasps.T_base_object[:3, 3] += arm.T_world_base[:3, :3].T @ moved
        if not self.scene.assets[name].stands_in:  # Shifts one file's grasps; a stand-in's need no shift.
            low, high = np.broadcast_to(config.pos_adjust_z, 2)
            T_base_tool[:, 2, 3] += between(self.rng, low, high, (len(T_base_tool),))
        if config.pivot_angle_z is not None:
            angle = -np.deg2rad(between(self.rng, *config.pivot_angle_z, (len(T_base_tool),)))
            T_base_tool[:, :3, :3] @= matrix_from_rotvec(angle[:, None] * np.array([0.0, 0.0, 1.0]))
        T_base_tool, taken = attainable_grasps(self, name, grasps)
        y = float((invert_pose(arm.T_world_base) @ self.scene.object_pose(name))[1, 3])
        passing = taken & filtered(T_base_tool, config, arm, None, y)
        level = len(gripper_of(self).position) - 1.0
        kept = clear_grasps(self, name, T_base_tool, passing, config.pre_grasp_offset, level)
        return T_base_tool[kept[drawn_by_score(self.rng, grasps.score[kept], TESTED)]]

    def _commands(self, meeting: Meeting) -> list[Command]:
        """Return one command per frame until the fingers have closed, as the time of meeting is fixed; then lift."""
        name, pose = self.config.objects[0], self.controller.commanded_pose
        rows = [(row, OPEN) for row in meeting.targets] + [(row, CLOSED) for row in meeting.ride]
        commands = [self.stay("update_specific", ignore_substring=self.controller.obstacles_of(name))]
        commands += [command_at(pose, "dummy_forward", arm_action=row, gripper_state=state) for row, state in rows]
        commands.append(command_at(meeting.lifted, "attach_obj", object=name, straight=True, path=meeting.lift))
        return [*commands, command_at(meeting.lifted, "close_gripper", straight=True, path=meeting.lift)]
