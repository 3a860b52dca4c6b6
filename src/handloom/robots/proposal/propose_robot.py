"""Propose a robot folder for a third-party model."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml

from handloom.config.search import enclosing_folders
from handloom.errors import ConfigError, FileError, InputError
from handloom.robots.proposal.adopt_model import (
    attach_gripper,
    cut_jaws,
    exclude_permanent_overlaps,
    included_by,
    read_model,
    separate_collision,
)
from handloom.robots.proposal.arm_chains import ArmChain, find_arms
from handloom.robots.proposal.finger_drives import couple, drives_of
from handloom.robots.proposal.gripper_guess import GripperGuess, guess_gripper, linkage_overlaps, single_jaw
from handloom.robots.proposal.home_and_drives import add_drives, home_guess
from handloom.robots.proposal.jaw_pads import add_jaw_pads
from handloom.robots.proposal.urdf_files import prepare_urdf
from handloom.sim.model_file import MODEL_PARENTS, rehearse_model
from handloom.spatial import quat_from_matrix

# Rubber on plastic or wood, and contacts as stiff as two physics steps allow.
PAD_FRICTION, PAD_SOLREF = (1.2, 0.02, 0.0005), (0.004, 1.0)
# GraspNet axes in a tool frame with z approach and y closing.
R_EE_GRASPNET = [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
QUAT_EE_GRASPNET = (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotProposal:
    """A proposed robot folder, not yet written."""

    spec: mujoco.MjSpec
    """The model with drives, tool frames and pads added."""
    values: dict[str, Any]
    """Keys of ``robot.yaml``."""
    notes: tuple[str, ...]
    """Assumptions that should be reviewed."""
    sources: tuple[Path, ...] = ()
    """Its source files."""


def propose_robot(
    path: Path | str,
    *,
    gripper: Path | str | None = None,
    at: str | None = None,
    allow_outside: bool = False,
    packages: Mapping[str, Path] | None = None,
) -> RobotProposal:
    """Read an MJCF or URDF model and propose everything a robot folder needs.

    Arms are found in the joint tree, grippers by moving them under physics, gains from the joint-space inertia.

    Args:
        path: The model.
        gripper: A model of the gripper, if the arm's model has none.
        at: Body of the arm that carries that gripper; by default the only end body.
        allow_outside: Models may include files outside their own folders and the three around those.
        packages: Package > its folder, for ``package://`` in URDF files; others are searched around the file and in
            ``ROS_PACKAGE_PATH``.

    Raises:
        FileError: There is no such file.
        ConfigError: MuJoCo cannot read it, or it has no arm with a gripper.
    """
    if at is not None and gripper is None:
        raise InputError("--at is the mount of a gripper; name its file with --gripper")
    scratch = Path(tempfile.mkdtemp(prefix="handloom-urdf-"))
    notes: list[str] = []
    speed_limits: dict[str, float] = {}
    try:
        specs = []
        for k, file in enumerate(Path(model) for model in (path, gripper) if model is not None):
            read, limits = _readable(
                file, scratch / str(k), notes, allow_outside=allow_outside, packages=packages or {}
            )
            specs.append(read_model(read, notes))
            speed_limits |= limits
        if gripper is not None:
            attach_gripper(specs[0], specs[1], at, notes)
        proposal = _proposed(specs[0], Path(path), notes, speed_limits)
        proposal = replace(proposal, sources=tuple(Path(model) for model in (path, gripper) if model is not None))
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    weakref.finalize(proposal, shutil.rmtree, scratch, ignore_errors=True)  # Its meshes are there until it is written.
    return proposal


def _readable(
    file: Path, scratch: Path, notes: list[str], *, allow_outside: bool, packages: Mapping[str, Path]
) -> tuple[Path, Mapping[str, float]]:
    """Return a file that MuJoCo can read, and the joint speed limits in it."""
    if not file.is_file():
        raise FileError(f"there is no model file {file}")
    folders = None if allow_outside else enclosing_folders(file.parent, most=MODEL_PARENTS)
    limits: Mapping[str, float] = {}
    if file.suffix.lower() == ".urdf":
        scratch.mkdir()
        prepared = prepare_urdf(file, scratch, packages=packages, folders=folders)
        notes += prepared.notes
        file, folders, limits = prepared.file, (scratch,), prepared.speed_limits
    try:
        rehearse_model(file, folders)
    except ConfigError as error:
        if names := included_by(file):
            raise ConfigError(f"{error}; it is part of {', '.join(names)}: add one of these") from error
        raise
    return file, limits


def _proposed(spec: mujoco.MjSpec, file: Path, notes: list[str], speed_limits: Mapping[str, float]) -> RobotProposal:
    """Propose a robot for a model that was read."""
    arms = find_arms(_compiled(spec, file))
    separate_collision(spec, arms, notes)
    drives = [drives_of(spec, _compiled(spec, file), arm, notes) for arm in arms]
    for arm in arms:
        if single_jaw(model := _compiled(spec, file), arm):
            cut_jaws(spec, model, arm, notes)
    speed_limits = {**speed_limits, **add_drives(spec, arms, drives, speed_limits, notes)}
    exclude_permanent_overlaps(spec, _compiled(spec, file), notes)
    for arm, names in zip(arms, drives, strict=True):
        for first, second in linkage_overlaps(_compiled(spec, file), arm, names):
            spec.add_exclude(bodyname1=first, bodyname2=second)
    guesses = [_one_drive(spec, guess, notes) for guess in _guesses(spec, file, arms, drives, notes)]
    model = _compiled(spec, file)
    prefixes = [""] if len(arms) == 1 else ["left/", "right/"]
    pads = [_add_tool(spec, model, arm, guess, p) for arm, guess, p in zip(arms, guesses, prefixes, strict=True)]
    values = _values(file, _compiled(spec, file), arms, guesses, pads, prefixes, notes)
    _add_speed_limits(values, speed_limits)
    return RobotProposal(spec=spec, values=values, notes=tuple(notes))


def _one_drive(spec: mujoco.MjSpec, guess: GripperGuess, notes: list[str]) -> GripperGuess:
    """Let the second of two drives follow the first, since one motor moves both fingers: they meet in the middle."""
    if len(guess.drives) != 2:
        return guess
    leader, follower = guess.drives
    (a, c), (b, d) = guess.closed_targets, guess.open_targets
    ratio = (d - c) / (b - a)
    couple(spec, follower, leader, offset=c - ratio * a, ratio=ratio)
    spec.delete(spec.actuator(follower))
    # The drive has the damping of both; with its own, the follower would lag behind.
    spec.joint(leader).damping[0] += spec.joint(follower).damping[0]
    spec.joint(follower).damping[0] = 0.0
    motor = spec.actuator(leader)
    motor.forcerange = [2.0 * force for force in motor.forcerange]
    motor.gainprm[0], motor.biasprm[1:3] = 2.0 * motor.gainprm[0], 2.0 * motor.biasprm[1:3]
    notes.append(f"{follower} follows {leader}: one drive moves both fingers")
    return replace(
        guess, drives=(leader,), open_targets=guess.open_targets[:1], closed_targets=guess.closed_targets[:1]
    )


def _guesses(
    spec: mujoco.MjSpec, file: Path, arms: tuple[ArmChain, ...], drives: list[tuple[str, ...]], notes: list[str]
) -> list[GripperGuess]:
    """Measure the grippers; if convex hulls interfere, again with decomposed meshes."""
    try:
        found = [guess_gripper(_compiled(spec, file), arm, names) for arm, names in zip(arms, drives, strict=True)]
    except ConfigError:
        cuts = [cut_jaws(spec, _compiled(spec, file), arm, notes) for arm in arms]
        if not any(cuts):
            raise
        found = [guess_gripper(_compiled(spec, file), arm, names) for arm, names in zip(arms, drives, strict=True)]
    return [_with_pads(spec, file, arm, guess, notes) for arm, guess in zip(arms, found, strict=True)]


def _with_pads(spec: mujoco.MjSpec, file: Path, arm: ArmChain, guess: GripperGuess, notes: list[str]) -> GripperGuess:
    """Add flat pads to the meshes of a single jaw and examine the gripper again."""
    model = _compiled(spec, file)
    curved = [model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH for geom in guess.pad_geoms]
    if not (single_jaw(model, arm) and any(curved)):
        return guess
    if (pads := add_jaw_pads(spec, model, arm, guess, f"{arm.hand_body}_", notes)) is None:
        return guess
    try:
        return guess_gripper(_compiled(spec, file), arm, guess.drives, pads=pads)
    except ConfigError:
        notes[-1] = f"no flat pads were found for {arm.hand_body} and its jaw; put a thin box on each, see fl_pad_geoms"
        for name in pads:
            spec.delete(spec.geom(name))
        return guess


def _add_speed_limits(values: dict[str, Any], limits: Mapping[str, float]) -> None:
    """Record speed limits of arms and grippers if every joint has one."""
    for part in ("left_joint", "left_gripper", "right_joint", "right_gripper"):
        names = values.get(f"{part}_names", [])
        if names and all(name in limits for name in names):
            values[f"{part}_speed_limit"] = [limits[name] for name in names]


def _compiled(spec: mujoco.MjSpec, file: Path) -> mujoco.MjModel:
    try:
        return spec.compile()
    except ValueError as error:
        raise ConfigError(f"{file}: MuJoCo cannot compile this model: {error}") from error


def _add_tool(
    spec: mujoco.MjSpec, model: mujoco.MjModel, arm: ArmChain, guess: GripperGuess, prefix: str
) -> tuple[str, str]:
    """Add the tool frame, its sites, and rubber on the pads; return the names of the pads."""
    quat = quat_from_matrix(guess.T_hand_tool[:3, :3]).tolist()
    tool = spec.body(arm.hand_body).add_body(name=f"{prefix}tool", pos=guess.T_hand_tool[:3, 3].tolist(), quat=quat)
    tip = [0.0, 0.0, guess.tcp_offset]
    tool.add_site(name=f"{prefix}tool_tcp", pos=tip, group=4)
    tool.add_site(name=f"{prefix}tool_grasp", pos=tip, quat=list(QUAT_EE_GRASPNET), group=4)
    names = (f"{prefix}pad_a", f"{prefix}pad_b")
    found = []
    for name, index in zip(names, guess.pad_geoms, strict=True):
        body = spec.body(model.body(model.geom_bodyid[index]).name)
        geom = body.geoms[index - int(model.body_geomadr[model.geom_bodyid[index]])]
        geom.name = geom.name or name
        found.append(geom.name)
        geom.condim, geom.priority = 4, 1
        geom.friction, geom.solref[:2] = list(PAD_FRICTION), PAD_SOLREF
    return found[0], found[1]


def _values(
    file: Path,
    model: mujoco.MjModel,
    arms: tuple[ArmChain, ...],
    guesses: list[GripperGuess],
    pads: list[tuple[str, str]],
    prefixes: list[str],
    notes: list[str],
) -> dict[str, Any]:
    first = guesses[0]
    half = first.max_width / 2
    keypoints = {
        "tool_head": [0.0, 0.0, first.tcp_offset, 1.0],
        "tool_tail": [0.0, 0.0, round(first.tcp_offset / 2, 4), 1.0],
        "tool_side": [0.0, half, first.tcp_offset, 1.0],
    }
    values: dict[str, Any] = {
        "description": f"{model.names[: model.names.index(0)].decode() or file.stem}, proposed from {file.name}",
        "target_class": "handloom.robots:TemplateRobot",
        "model": "model.xml",
        "gripper_max_width": first.max_width,
        "gripper_min_width": first.min_width,
        "tcp_offset": first.tcp_offset,
        "ee_axis": "z",
        "R_ee_graspnet": R_EE_GRASPNET,
        "dof_names": [model.joint(j).name for j in range(model.njnt)],
    }
    home = home_guess(model, arms, guesses)
    notes.append("home is a guess: check it with `handloom robot show --frames`, then change left_joint_home")
    for arm, guess, pad, prefix, side, short in zip(
        arms, guesses, pads, prefixes, ("left", "right"), ("fl", "fr"), strict=False
    ):
        fingers = {model.body(model.geom_bodyid[model.geom(name).id]).name for name in pad}
        links = [model.body(model.jnt_bodyid[model.joint(name).id]).name for name in arm.joints]
        values |= {
            f"{side}_joint_names": list(arm.joints),
            f"{side}_joint_home": [home.pop(name) for name in arm.joints],
            f"{side}_joint_home_std": [0.0] * len(arm.joints),
            f"{side}_gripper_names": list(guess.drives),
            f"{side}_gripper_home": [home.pop(name) for name in guess.drives],
            f"{side}_gripper_open": list(guess.open_targets),
            f"{side}_gripper_closed": list(guess.closed_targets),
            f"{short}_ee_path": f"{prefix}tool",
            f"{short}_base_path": arm.base_body,
            f"{short}_tcp_site": f"{prefix}tool_tcp",
            f"{short}_grasp_site": f"{prefix}tool_grasp",
            f"{short}_pad_geoms": list(pad),
            f"{short}_gripper_keypoints": keypoints,
            f"{short}_filter_paths": sorted(fingers),
            f"{short}_forbid_collision_paths": [body for body in links[1:] if body not in fingers],
        }
    return {**values, "other_joint_home": home, "physics": {"cone": "elliptic", "impratio": 50}}


def write_proposal(proposal: RobotProposal, folder: Path | str, *, overwrite: bool = False) -> Path:
    """Write ``model.xml``, ``robot.yaml`` and copies of meshes and textures into a folder.

    Raises:
        InputError: The folder already holds a robot and ``overwrite`` is not set, or it contains the source files.
        FileError: A mesh or texture is missing.
    """
    target = Path(folder)
    if (target / "robot.yaml").exists() and not overwrite:
        raise InputError(f"{target} already contains a robot; choose another folder, or use --overwrite")
    _refuse_sources(proposal, target)
    target.mkdir(parents=True, exist_ok=True)
    assets = _copy_assets(proposal, target.resolve() / "assets")
    (target / "model.xml").write_text(proposal.spec.to_xml().replace(f'file="{assets}/', 'file="assets/'), "utf-8")
    notes = "\n".join(f"# - {note}" for note in proposal.notes)
    text = yaml.safe_dump(proposal.values, sort_keys=False, default_flow_style=None, width=120)
    (target / "robot.yaml").write_text(f"# Proposed; check these first:\n{notes}\n{text}", encoding="utf-8")
    return target


def _refuse_sources(proposal: RobotProposal, target: Path) -> None:
    """Refuse an output folder in which the source files could be overwritten."""
    written = target.resolve()
    files = [Path(obj.file) for obj in (*proposal.spec.meshes, *proposal.spec.textures) if obj.file]
    models = [source.resolve() for source in proposal.sources]
    lost = [model for model in models if model.parent in (written, written / "assets")]
    lost += [file for file in files if file.resolve().parent == written / "assets"]
    if lost:
        raise InputError(
            f"{target} contains the source file {lost[0].name}, which would be overwritten; choose another folder "
            "with -o"
        )


def _copy_assets(proposal: RobotProposal, assets: Path) -> Path:
    """Copy meshes and textures into a folder and refer to the copies in the model by their full paths."""
    copies: dict[Path, Path] = {}
    for kind, objs in (("mesh", proposal.spec.meshes), ("texture", proposal.spec.textures)):
        for obj in objs:
            if not obj.file:
                continue
            source = Path(obj.file)
            if not source.is_file():
                raise FileError(f"the model needs the {kind} file {source}, which does not exist")
            if source not in copies:
                taken = assets / source.name in copies.values()  # Two folders may have files of the same name.
                copies[source] = assets / (f"{len(copies)}_{source.name}" if taken else source.name)
                assets.mkdir(exist_ok=True)
                shutil.copyfile(source, copies[source])
            obj.file = str(copies[source])
    return assets
