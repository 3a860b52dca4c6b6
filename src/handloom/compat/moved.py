"""Former import paths and their current locations: old paths import the very same objects.

This table is used only if an import of ``handloom.something`` fails. A path in this table imports
the module that replaced it, with a DeprecationWarning that names the new path; a path that never existed stays an
ImportError.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from types import ModuleType
from typing import Any

FOLDERS = {
    "handloom.control": "handloom.isaac",
    "handloom.articulation": "handloom.isaac.articulation",
    "handloom.motion_generation": "handloom.isaac.motion_generation",
    "handloom.control.wheeled": "handloom.isaac.wheeled",
    "handloom.control.graph": "handloom.isaac.graph",
    "handloom.control.graph.nodes": "handloom.isaac.graph.nodes",
    "handloom.control.policy": "handloom.isaac.policy",
    "handloom.control.surface_gripper": "handloom.scene.surface_gripper",
}
"""Old folder > new folder; modules keep their names unless ``MODULES`` lists them."""

MODULES = {
    ("handloom.scene", "handloom.scene.surface_gripper"): "suction",
    ("handloom.judging", "handloom.judging.wording"): "words",
    ("handloom.motion_generation", "handloom.isaac.motion_generation.rmpflow"): (
        "rmpflow rmpflow_config rmpflow_kernels rmpflow_layout rmpflow_space rmpflow_visuals"
    ),
    ("handloom.motion_generation", "handloom.isaac.motion_generation.trajectories"): (
        "cubic_spline path_conversion path_segments s_curve task_space_path trajectory_generator"
    ),
    ("handloom.motion_generation", "handloom.isaac.motion_generation.descriptions"): (
        "describe_robot description_files motion_robot supported_robots"
    ),
    ("handloom.control.wheeled", "handloom.isaac.wheeled.controllers"): (
        "ackermann_controller differential_controller holonomic_controller holonomic_robot_setup "
        "wheel_base_pose_controller"
    ),
    ("handloom.control.wheeled", "handloom.isaac.wheeled.paths"): "path_shapes path_tracker quintic_path stanley",
    ("handloom.control.wheeled", "handloom.isaac.wheeled.laps"): (
        "base_driver courses driver drives lap track_picture track_video"
    ),
    ("handloom.compat.isaacsim", "handloom.isaac.names"): "experimental_wheeled prims stage world",
    ("handloom.robots", "handloom.isaac.articulation"): "template_robot",
    ("handloom.dataset", "handloom.dataset.lerobot"): (
        "dataset_reader extend feature file_list info_file layout_check merge merge_datasets merge_plan "
        "statistics table_check tables total_statistics"
    ),
    ("handloom.dataset", "handloom.dataset.episodes"): (
        "archive certificate episode_folder episode_outcome episode_writer record_archive"
    ),
    ("handloom.dataset", "handloom.dataset.video"): "colour_planes video_codec video_join video_reader video_writer",
    ("handloom.dataset", "handloom.dataset.files"): "durable parquet_append parquet_files reading replacing shapes",
    ("handloom.skills", "handloom.skills.arms"): (
        "arm_controller arm_motion arm_pair candidates held_parts orientations traffic"
    ),
    ("handloom.skills", "handloom.skills.picking"): (
        "dexterous dynamic_pick grasp_moves grasp_poses meeting pick pick_variants"
    ),
    ("handloom.skills", "handloom.skills.placing"): "foresight hang landing place place_in",
    ("handloom.skills", "handloom.skills.articulated_objects"): (
        "actuation art_preplan articulated joint_manners joint_ways keypoint_solver mobile_open"
    ),
    ("handloom.skills", "handloom.skills.held_objects"): "carry flip_and_scan pour rotate_held",
    ("handloom.skills", "handloom.skills.motions"): "joint_skills tool_motions track",
    ("handloom.skills", "handloom.skills.mobile_base"): "base_planner mobile",
    ("handloom.engine", "handloom.engine.executors"): "executor machine_faults ray_executor remote_attempt",
    ("handloom.engine", "handloom.engine.runs"): "goal journal merge_run run_directory run_settings",
    ("handloom.engine", "handloom.engine.policy"): (
        "evaluation lerobot_checkpoint lerobot_policy lerobot_worker policies"
    ),
    ("handloom.engine", "handloom.engine.verification"): "recomputed resampled verify",
    ("handloom.objects.importers", "handloom.objects.importers.meshes"): (
        "mesh_blueprint mesh_files mesh_looks obj_materials"
    ),
    ("handloom.objects.importers", "handloom.objects.importers.models"): (
        "handle_finder model_asset model_files model_looks model_pieces normal_form"
    ),
    ("handloom.objects.importers", "handloom.objects.importers.usd"): "usd_files usd_joints usd_meshes",
    ("handloom.cli", "handloom.cli.verbs"): "bench dataset doctor drive grasp list object report robot task teleop",
    ("handloom.cli", "handloom.cli.runs"): "augment evaluate generate generate_display",
    ("handloom.cli.verbs", "handloom.cli.runs"): "augment evaluate generate generate_display improve retell",
    ("handloom.bench", "handloom.bench.datasets"): "data dataset labels",
    ("handloom.bench", "handloom.bench.library"): "pack",
    ("handloom.labels", "handloom.labels.images"): "kernels label_pictures outlines picture_packing",
    ("handloom.tasks.sampling", "handloom.tasks.sampling.layouts"): "layout layout_sampler outlines settling_world",
    ("handloom.bench", "handloom.bench.motion"): "collision ik plan planning_problems trajectory",
    ("handloom.teleop", "handloom.teleop.control"): "arm_teleop position_follower resistance robot_teleop",
    ("handloom.teleop", "handloom.teleop.session"): "live_input operator_source",
    ("handloom.teleop", "handloom.teleop.keeping"): "saver still takes teleop_run",
    ("handloom.teleop", "handloom.teleop.serving"): "messages page_view picture_stream server",
    ("handloom.motion.planning", "handloom.motion.planning.trees"): "hold_kernels jt_rrt rrt_connect shortcut",
}
"""(Old folder, new folder) > the modules that moved."""

RENAMED = {
    "handloom.episode.carried_way": "handloom.episode.transferred_path",
    "handloom.objects.joint_feel": "handloom.objects.joint_dynamics",
    "handloom.skills.articulated_objects.joint_ways": "handloom.skills.articulated_objects.joint_paths",
    "handloom.skills.articulated_objects.joint_manners": "handloom.skills.articulated_objects.joint_strategies",
    "handloom.compat.isaacteleop.rate_limits": "handloom.compat.isaacteleop.small_names",
    "handloom.teleop.certificate": "handloom.web.certificate",
    "handloom.teleop.gate": "handloom.web.gate",
    "handloom.motion.collision.lane_shapes": "handloom.motion.collision.lane_kernels",
    "handloom.episode.detailed_columns": "handloom.episode.columns",
    "handloom.objects.importers.packages": "handloom.objects.importers.object_packages",
    "handloom.robots.grasp_poses": "handloom.robots.tool_poses",
    "handloom.robots.portrait": "handloom.robots.robot_portrait",
    "handloom.motion.planning.search": "handloom.motion.planning.path_search",
    "handloom.motion.collision.arrays": "handloom.motion.collision.collision_arrays",
    "handloom.isaac.motion_generation.trajectories.s_curve": (
        "handloom.isaac.motion_generation.trajectories.cubic_spline"
    ),
    "handloom.motion.trajectory.timing": "handloom.motion.trajectory.timed_path",
    "handloom.retarget.haptics.tactile_types": "handloom.retarget.haptics.haptic_device",
    "handloom.isaac.wheeled.laps.driver": "handloom.isaac.wheeled.laps.lap",
    "handloom.isaac.policy.flat_terrain": "handloom.isaac.policy.walker",
    "handloom.isaac.policy.joint_patterns": "handloom.isaac.policy.policy_env",
    "handloom.dataset.episodes.record_archive": "handloom.dataset.episodes.archive",
    "handloom.robots.suction_config": "handloom.robots.drive_config",
    "handloom.engine.archives": "handloom.engine.trust",
    "handloom.engine.work": "handloom.engine.generate",
    "handloom.robots.checks.model_checks": "handloom.robots.checks.check_robot",
    "handloom.objects.importers.models.model_pieces": "handloom.objects.importers.models.model_files",
    "handloom.grasping.grasp_candidates": "handloom.grasping.annotate",
    "handloom.grasping.suction": "handloom.grasping.grasp_library",
    "handloom.tasks.sampling.held_objects": "handloom.tasks.sampling.sample_task",
    "handloom.motion.planning.goal_set": "handloom.motion.planning.move_planner",
    "handloom.dataset.video.colour_planes": "handloom.dataset.video.video_writer",
    "handloom.episode.judged_source": "handloom.engine.sources",
    "handloom.motion_generation.urdf": "handloom.sim.urdf",
    "handloom.isaac.motion_generation.descriptions.urdf": "handloom.sim.urdf",
    "handloom.retarget.urdf_kinematics": "handloom.sim.urdf",
    "handloom.dataset.audit.motion_figures": "handloom.dataset.audit.audit_dataset",
    "handloom.dataset.audit.picture_figures": "handloom.dataset.audit.audit_dataset",
    "handloom.dataset.exports.crc_kernels": "handloom.dataset.exports.tfrecord",
    "handloom.labels.traces": "handloom.labels.cameras",
    "handloom.labels.steps": "handloom.labels.labeller",
    "handloom.labels.words.episode_words": "handloom.labels.labeller",
    "handloom.render.run_drawing": "handloom.render.backends",
    "handloom.viewer.scene_factors": "handloom.viewer.evaluation_api",
    "handloom.viewer.export.stream_video": "handloom.viewer.export.static_site",
    "handloom.viewer.scene3d.first_view": "handloom.viewer.scene3d.scene_geometry",
    "handloom.viewer.task_page.mistakes": "handloom.viewer.task_page.task_worker",
    "handloom.viewer.touches": "handloom.viewer.episode_api",
    "handloom.viewer.oddness": "handloom.viewer.episode_table",
    "handloom.render.cuda.constants": "handloom.render.cuda.source",
    "handloom.values.optics": "handloom.values.camera",
    "handloom.values.surroundings": "handloom.values.instance",
    "handloom.web.static_files": "handloom.web.web_app",
    "handloom.isaac.wheeled.laps.drives": "handloom.isaac.wheeled.laps.base_driver",
    "handloom.engine.lineage.merkle": "handloom.engine.lineage.dataset_certificate",
    "handloom.isaac.articulation.measured_forces": "handloom.isaac.articulation.solver_settings",
    "handloom.cli.desk.audit": "handloom.cli.datasets.audit",
    "handloom.cli.desk.export": "handloom.cli.datasets.export",
    "handloom.cli.desk.label": "handloom.cli.datasets.label",
    "handloom.cli.desk.publish": "handloom.cli.datasets.publish",
    "handloom.cli.desk.remake": "handloom.cli.datasets.publish",
    "handloom.cli.verbs.dataset": "handloom.cli.datasets.dataset",
    "handloom.cli.verbs.report": "handloom.cli.datasets.report",
    "handloom.bench.scenes": "handloom.bench.worlds.scenes",
    "handloom.bench.kitchens": "handloom.bench.worlds.kitchens",
    "handloom.bench.rooms": "handloom.bench.worlds.rooms",
    "handloom.bench.table": "handloom.bench",
    "handloom.cli.datasets.remake": "handloom.cli.datasets.publish",
    "handloom.labels.failure_facts": "handloom.labels.touches",
    "handloom.scene.model_xml": "handloom.scene.build",
    "handloom.cli.verbs.view": "handloom.cli.datasets.view",
    "handloom.tasks.config.short_deeds": "handloom.tasks.config.short_form.deeds",
    "handloom.tasks.config.short_points": "handloom.tasks.config.short_form.points",
    "handloom.tasks.config.short_verbs": "handloom.tasks.config.short_form.verbs",
}
"""Module > the module that has its code now: renamed, or merged into that one."""

NAMES = {
    "handloom.judging:collateral": "handloom.judging.judge:Bystanders",
    "handloom.motion.collision:convex_hull": "handloom.motion.collision:hull_shape",
    "handloom.robots:TemplateRobot": "handloom.isaac.articulation:TemplateRobot",
    "handloom.robots:make_robot": "handloom.isaac.articulation:make_robot",
    "handloom.robots:register_robot": "handloom.isaac.articulation:register_robot",
    "handloom.robots:robot_class": "handloom.isaac.articulation:robot_class",
}
"""Names that moved out of a folder that still exists: ``"old folder:name"`` > ``"new folder:name"``."""

_PLACES = FOLDERS | {
    f"{old}.{name}": f"{new}.{name}" for (old, new), names in MODULES.items() for name in names.split()
}


def new_place(module: str) -> str | None:
    """Return the current location of a module; None if its path is in no table."""
    place = _PLACES.get(module, module)
    folder, _, name = module.rpartition(".")
    if place == module and folder in FOLDERS:
        place = f"{FOLDERS[folder]}.{name}"
    place = RENAMED.get(module, RENAMED.get(place, place))
    return None if place == module else place


def find_moved(module: str) -> importlib.machinery.ModuleSpec | None:
    """Return the spec to import a module by its old path; None if the path is in no table.

    Raises:
        ModuleNotFoundError: Its folder has a function of the same name, which an import of the old path would hide.
    """
    place = new_place(module)
    if place is None:
        return None
    folder, _, name = module.rpartition(".")
    public = getattr(sys.modules[folder], name, None)
    if folder not in FOLDERS and public is not None and not isinstance(public, ModuleType):
        raise ModuleNotFoundError(f"the module {module} is now {place}; {folder}.{name} is a function", name=module)
    return importlib.machinery.ModuleSpec(module, _Moved(place))


def moved_name(folder: str, name: str) -> Any:
    """Return an object by its former folder.

    Raises:
        AttributeError: The folder never had that name.
    """
    row = NAMES.get(f"{folder}:{name}")
    if row is None:
        raise AttributeError(f"module {folder!r} has no attribute {name!r}")
    place, _, attribute = row.partition(":")
    warnings.warn(f"{folder}.{name} is now {place}.{attribute}", DeprecationWarning, stacklevel=3)
    return getattr(importlib.import_module(place), attribute)


class OldFolder(ModuleType):
    """A folder under its old path: names come from the new folder, and modules are looked up in this table.

    It has no path, so that no module is loaded a second time under an old name.
    """

    def __init__(self, name: str, folder: ModuleType) -> None:
        super().__init__(name, folder.__doc__)
        self.__path__ = []
        self.__all__ = list(getattr(folder, "__all__", ()))
        self._folder = folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__.get("__all__", ()):  # A module must not hide a function of the same name.
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return dir(self._folder)


class _Moved(importlib.abc.Loader):
    """Loads a module by its old path: the very module of the new path."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.spec: importlib.machinery.ModuleSpec | None = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module of the new path."""
        module = importlib.import_module(self.place)
        warnings.warn(f"{spec.name} is now {self.place}", DeprecationWarning, stacklevel=2)
        if spec.name in FOLDERS:
            module = OldFolder(spec.name, module)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec; it was executed when imported from its new path."""
        module.__spec__ = self.spec
