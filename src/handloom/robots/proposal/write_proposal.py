"""Write a proposed robot folder: model, files it needs, robot.yaml."""

import shutil
from pathlib import Path

import yaml

from handloom.errors import FileError, InputError
from handloom.robots.proposal.propose_robot import RobotProposal


def write_proposal(proposal: RobotProposal, folder: Path | str, *, overwrite: bool = False) -> Path:
    """Write ``model.xml``, ``robot.yaml`` and copies of meshes and textures into a folder.

    Raises:
        InputError: The folder holds a robot already and ``overwrite`` is not set.
        FileError: A mesh or texture is missing.
    """
    target = Path(folder)
    if (target / "robot.yaml").exists() and not overwrite:
        raise InputError(f"{target} holds a robot already; choose another folder, or overwrite it with --overwrite")
    target.mkdir(parents=True, exist_ok=True)
    _copy_assets(proposal, target)
    (target / "model.xml").write_text(proposal.spec.to_xml(), encoding="utf-8")
    notes = "\n".join(f"# - {note}" for note in proposal.notes)
    text = yaml.safe_dump(proposal.values, sort_keys=False, default_flow_style=None, width=120)
    (target / "robot.yaml").write_text(f"# Proposed; look at these first:\n{notes}\n{text}", encoding="utf-8")
    return target


def _copy_assets(proposal: RobotProposal, target: Path) -> None:
    spec = proposal.spec
    folders = {"mesh": spec.meshdir or "", "texture": spec.texturedir or ""}
    for kind, objs in (("mesh", spec.meshes), ("texture", spec.textures)):
        for obj in objs:
            if not obj.file:
                continue
            source = Path(spec.modelfiledir) / folders[kind] / obj.file
            if not source.is_file():
                raise FileError(f"the model needs the {kind} file {source}, which does not exist")
            (target / "assets").mkdir(exist_ok=True)
            shutil.copyfile(source, target / "assets" / source.name)
            obj.file = source.name
    spec.meshdir = spec.texturedir = "assets"
    spec.modelfiledir = str(target)
