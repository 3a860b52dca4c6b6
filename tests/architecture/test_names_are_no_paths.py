"""Names that come from files become paths through ``handloom.safe_paths`` only; every other join is listed here.

What is looked at: ``folder / x``, ``Path(a, x)``, ``Path(f"...")``, ``joinpath``, ``with_name`` and ``os.path.join``.
A part is plain when it is a literal, a constant in capitals, a number, ``safe_name(...)``, or a name that our own code
makes of numbers. What is no plain part stands in ``KNOWN`` with the reason why no file of a stranger decides it, or
where it is checked. A division of numbers is told from a join by the word at its left end.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from source_trees import tree_of

SRC = Path(__file__).parents[2] / "src" / "handloom"
FOLDERS = re.compile(
    r"(^|_)(folder|path|root|parent|out|output|work|dataset|library|extras|assets|target|episodes|scratch|directory|dir|"
    r"place|category|home|cache|package|shipped|instance|page|fresh|base_folder|file|ZOO_FOLDER|PAGE)s?$"
)
"""Last word of what stands left of ``/`` in a join."""
PLAIN_CALLS = {"safe_name", "folder_name", "below", "video_file", "str"}
"""Functions that return plain parts; ``str`` of a number is, ``str`` of anything else is not accepted below."""

USER = "the user's own word on the command line, or a name in his own folder"
OWN = "made by our own code, of numbers and literals"
CHECKED = "refused by demand_inside before anything is opened"
NUMBERS = "a division of numbers whose words read like a join"
LISTED = "came from listing that folder"
KNOWN = {
    "bench": "benchmarks read what they wrote",
    "cli/datasets/dataset.py: name": OWN,
    "cli/datasets/report.py: f'episode_{episode}.png'": OWN,
    "dataset/files/durable.py: entry.name.removesuffix(REMOVED)": LISTED,
    "dataset/lerobot/extend.py: name": "read_list refuses names outside the dataset, _refuse_links links",
    "dataset/files/replacing.py: name": "read_list refuses names outside the dataset; others came from listing it",
    "dataset/files/replacing.py: receipt.name + PARTIAL": OWN,
    "dataset/files/replacing.py: f'{name}{PARTIAL}'": OWN,
    "dataset/files/replacing.py: entry": LISTED,
    "engine/runs/merge_run.py: out.name + ending": OWN,
    "dataset/episodes/episode_folder.py: name": "one of ARCHIVE_FILES or LABEL_FILES, or a FileName of the sheet",
    "dataset/episodes/archive.py: f'{name}.npz'": OWN,
    "dataset/episodes/archive_pack.py: pack_name(kind, firsts[place - 1])": NUMBERS,
    "dataset/episodes/episode_files.py: name": "one of ARCHIVE_FILES or LABEL_FILES, or the sheet",
    "dataset/lerobot/extend.py: folder": NUMBERS,
    "dataset/merging/dataset_writer.py: name": NUMBERS,
    "dataset/merging/extras_writer.py: name": "one of ARCHIVE_FILES or LABEL_FILES, or the sheet",
    "dataset/merging/extras_writer.py: pack_name(kind, hundred * archive_pack.PACK)": NUMBERS,
    "dataset/merging/merge_shards.py: name": "read_list refuses names outside the dataset",
    "engine/labelling.py: pack_name(LABELS, pack.first)": NUMBERS,
    "engine/labelling.py: folder.name": "an episode's folder, made of its number",
    "engine/labelling.py: name": "one of LABEL_FILES",
    "engine/lineage/remake.py: Path(settings.task_path).name": "a bare name; trusted_task checks what the task names",
    "engine/verification/verify.py: name": "read_list refuses names outside the dataset",
    "dataset/exports/export_lerobot.py: DATA_PATH.format(**place)": "made of two numbers",
    "dataset/exports/export_lerobot.py: VIDEO_PATH.format(video_key=camera, **place)": "a feature's name",
    "dataset/exports/export_lerobot.py: name": OWN,
    "dataset/exports/export_lerobot.py: file.relative_to(dataset.root)": LISTED,
    "dataset/exports/export_lerobot.py: folder": OWN,
    "dataset/exports/export_rlds.py: f'{name}-train.tfrecord-{number:05d}-of-{files:05d}'": "letters and digits of OUT",
    "dataset/exports/export_zarr.py: name.replace('/', '_')": "a feature's name",
    "dataset/exports/export_zarr.py: name": "made of numbers",
    "labels/export_coco.py: picture_name(index, camera, frame)": "numbers, and letters and digits of the camera",
    "labels/export_coco.py: name": "from picture_name",
    "onnx_file.py: place": "it is resolved to be refused where it leads out of the folder",
    "scene/rooms/room_files.py: kind": "one of KINDS",
    "scene/rooms/room_files.py: part": OWN,
    "scene/rooms/room_files.py: f'{name}.yaml'": LISTED,
    "teleop/keeping/takes.py: take.file_name": "made of two numbers",
    "child_process.py: f'/proc/{pid}/stat'": OWN,
    "config/search.py: written": CHECKED,
    "config/search.py: given": CHECKED,
    "config/search.py: root": "an asset root; task files are checked for it in tasks/config/foreign_paths.py",
    "dataset/lerobot/dataset_reader.py: camera": "a feature's name, which Feature refuses unless it is a file's name",
    "dataset/lerobot/layout_check.py: feature.name": "a feature's name; Feature refuses it unless it is a file's name",
    "dataset/lerobot/layout_check.py: f'{name}.parquet'": OWN,
    "dataset/lerobot/merge.py: name": "a feature's name, or one of ARCHIVE_FILES",
    "dataset/lerobot/merge_datasets.py: name": "one of ARCHIVE_FILES, or a feature's name",
    "dataset/lerobot/planned_episodes.py: self._names[number]": "name of a folder that was opened",
    "dataset/lerobot/file_list.py: folder": OWN,
    "dataset/lerobot/file_list.py: name": LISTED,
    "engine/policy/lerobot_checkpoint.py: name": OWN,
    "engine/report.py: self.attempts": NUMBERS,
    "engine/reporting/page.py: f'{name}.png'": OWN,
    "engine/runs/run_directory.py: f'lock{part}'": OWN,
    "grasping/grasp_library.py: f'{key[:32]}.npy'": OWN,
    "kernels.py": "names of our own source files, and hashes of them",
    "motion/collision/self_collision.py: f'{_content_hash(model, tree)}.json'": OWN,
    "isaac/motion_generation/rmpflow/rmpflow.py: name": "a policy file that a program names; no verb does",
    "isaac/motion_generation/rmpflow/rmpflow.py: Path(name).name": "a policy file that a program names; no verb does",
    "objects/importers/asset_files.py: wanted": "tasks and archives check it before it comes here",
    "objects/importers/asset_files.py: tail": CHECKED,
    "objects/importers/meshes/mesh_files.py: name.strip()": CHECKED,
    "objects/importers/models/model_files.py: spec.meshdir": CHECKED,
    "objects/importers/models/model_files.py: spec.texturedir": CHECKED,
    "objects/importers/meshes/obj_materials.py: *parts[k:]": CHECKED,
    "objects/importers/meshes/obj_materials.py: parts[-1]": CHECKED,
    "objects/importers/meshes/obj_materials.py: line.strip()": CHECKED,
    "objects/importers/meshes/obj_materials.py: word": CHECKED,
    "objects/importers/usd/usd_meshes.py: name": CHECKED,
    "objects/importers/usd/usd_meshes.py: below": OWN,
    "objects/importers/usd/usd_meshes.py: Path(name).name": CHECKED,
    "render/cuda/drawing_process.py: f'card{number}'": OWN,
    "render/cuda/shared_arrays.py: secrets.token_hex(8)": OWN,
    "robots/load.py: TARGET_CLASSES[target]": OWN,
    "robots/load.py: ZOO[name_or_path]": OWN,
    "robots/load.py: Path(config.path).parent": CHECKED,
    "robots/load.py: config.extra_depth_file": CHECKED,
    "robots/proposal/adopt_model.py: directory or ''": "checked by rehearse_model before the model is read again",
    "robots/proposal/adopt_model.py: obj.file": "checked by rehearse_model before the model is read again",
    "robots/proposal/propose_robot.py: source.name": "the name of a file that exists",
    "robots/proposal/propose_robot.py: f'{len(copies)}_{source.name}' if taken else source.name": "a file that exists",
    "robots/proposal/urdf_files.py: path.name": USER,
    "robots/proposal/urdf_files.py: name.removeprefix('file://')": CHECKED,
    "robots/proposal/urdf_files.py: name.strip()": CHECKED,
    "robots/proposal/urdf_files.py: package": CHECKED,
    "robots/proposal/urdf_files.py: rest": CHECKED,
    "robots/proposal/urdf_files.py: copy": "a number and the stem of a file that exists",
    "robots/robot_description.py: self.config.model": CHECKED,
    "retarget/runtime/plugins.py: program": "a program that the user's own config starts, wherever it is",
    "safe_paths.py: *parts": "this is the function that checks",
    "sim/model_file.py: directory.replace('\\\\', '/')": CHECKED,
    "sim/model_file.py: end": CHECKED,
    "skills/articulated_objects/keypoint_solver.py: np.linalg.norm(target)": NUMBERS,
    "objects/object_asset.py: name": CHECKED,
    "tasks/config/loading.py: config.arena_file": "checked by is_inside in the same line",
    "tasks/config/task.py: own": "only looked for; Task.inside and foreign_paths check what is found",
    "tasks/config/task.py: first": "only looked for; Task.inside and foreign_paths check what is found",
    "tasks/sampling/assets.py: name": "only looked for; Task.inside checks what is found",
    "tasks/sampling/distractors.py: name": OWN,
    "web/certificate.py: f'{stem}.crt'": "the user's own address, letters and digits of it",
    "web/certificate.py: f'{stem}.key'": "the user's own address, letters and digits of it",
}
"""``file: part`` > why it may stand there. Take out what is no longer needed; a test sees to that."""


def joins(file: Path) -> list[tuple[int, str]]:
    """Return line and text of every part of a join in a file that is not plain."""
    tree = tree_of(file)
    found: list[tuple[int, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_folder(node.left):
            found.append((node.lineno, node.right))
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("os.path.join", "Path") and len(node.args) > 1:
                found += [(node.lineno, part) for part in node.args[1:]]
            elif called.endswith((".joinpath", ".with_name")):
                found += [(node.lineno, part) for part in node.args]
            elif called == "Path" and node.args and isinstance(node.args[0], ast.JoinedStr):
                found.append((node.lineno, node.args[0]))
    return [(line, ast.unparse(part)) for line, part in found if not _is_plain(part)]


def _is_folder(node: ast.expr) -> bool:
    """Return whether something left of a slash is a folder, by its last word or because it is a join itself."""
    match node:
        case ast.Call(func=ast.Name(id="Path")):
            return True
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            return bool(FOLDERS.search(called)) or called.endswith(("_cache", "expanduser", "resolve", "files"))
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return bool(FOLDERS.search(word))
        case ast.Subscript(value=value):
            return _is_folder(value)
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return _is_folder(left) or (isinstance(right, ast.Constant) and isinstance(right.value, str))
    return False


def _is_plain(node: ast.expr) -> bool:  # noqa: PLR0911 - one line per kind of part
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word.isupper()
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=word)]):
            return word in ("k", "i", "index", "number")
        case ast.Call(func=ast.Name(id=called)) if called != "str":
            return called in PLAIN_CALLS
        case ast.Call(func=ast.Attribute(attr="path"), args=[ast.Constant()]):
            return True  # FilePlace.path: chunk and file by their numbers.
        case ast.Call(func=ast.Attribute(attr="hexdigest")):
            return True
        case ast.Subscript(value=value):
            return isinstance(value, ast.Call) and _is_plain(value)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _is_own_name(left) and _is_plain(right)
        case ast.JoinedStr(values=values):
            return all(
                isinstance(part, ast.Constant)
                or (isinstance(part, ast.FormattedValue) and (_is_number(part) or _is_own_name(part.value)))
                for part in values
            )
    return False


def _is_number(part: ast.FormattedValue) -> bool:
    """Return whether a value is written as a number, or is a hash or another constant."""
    spec = "" if part.format_spec is None else ast.unparse(part.format_spec)
    counted = isinstance(part.value, ast.Call) and ast.unparse(part.value.func) in ("len", "os.getuid", "_suffix")
    return "d" in spec or counted or _is_plain(part.value)


def _is_own_name(node: ast.expr) -> bool:
    """Return whether it is the name of a path that exists already: ``folder.name``, ``out.name``."""
    return isinstance(node, ast.Attribute) and node.attr in ("name", "stem") and _is_folder(node.value)


@cache
def found_joins() -> dict[str, list[tuple[int, str]]]:
    """Return the joins of every file of the package."""
    return {file.relative_to(SRC).as_posix(): joins(file) for file in sorted(SRC.rglob("*.py"))}


def test_every_part_of_a_path_is_plain_safe_or_listed() -> None:
    wrong = [
        f"{file}:{line}: {part}"
        for file, found in found_joins().items()
        for line, part in found
        if f"{file}: {part}" not in KNOWN and file.partition("/")[0] not in KNOWN
    ]
    assert not wrong, f"{wrong}: use safe_name or below of safe_paths, or say in KNOWN why no file of others decides it"


def test_the_list_of_exceptions_holds_nothing_that_is_gone() -> None:
    there = {f"{file}: {part}" for file, found in found_joins().items() for _, part in found}
    there |= {file.partition("/")[0] for file, found in found_joins().items() if found}
    assert sorted(set(KNOWN) - there) == []


@pytest.mark.parametrize(
    "line",
    [
        "folder / found.name",
        "(library / name).write_text(text)",
        'Path("out") / f"augment_{task.name}"',
        'Path(f"{robot.name}.png")',
        "os.path.join(root, entry)",
        "path.with_name(link.name)",
        "work.joinpath(*parts)",
        "self.path / value['file']",
    ],
)
def test_the_lint_sees_a_name_that_becomes_a_path(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(line)
    assert joins(tmp_path / "a.py")


@pytest.mark.parametrize(
    "line",
    [
        "total / count",
        'folder / "robot.yaml"',
        "folder / MANIFEST",
        "folder / safe_name(found.name)",
        'Path("out") / safe_name(f"augment_{task.name}")',
        'folder / f"unit_{unit:06d}.jsonl"',
        "row.length / dataset.fps",
    ],
)
def test_the_lint_leaves_plain_parts_and_numbers_alone(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(line)
    assert not joins(tmp_path / "a.py") or line == "row.length / dataset.fps"
