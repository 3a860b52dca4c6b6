"""Add the pages of the documentation site that have no file in docs/: MkDocs calls ``on_files`` before it builds.

The API reference has one page per package, made from docstrings; the changelog comes from its fragments, and
CONTRIBUTING.md from the root of the repository.
"""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from write_changelog import changelog  # noqa: E402 - tools/ is not a package

API = {
    "handloom": "handloom",
    "tasks": "handloom.tasks",
    "scene": "handloom.scene handloom.scene.surface_gripper",
    "episode": "handloom.episode",
    "skills": "handloom.skills",
    "engine": "handloom.engine",
    "dataset": "handloom.dataset",
    "robots": "handloom.robots",
    "objects": "handloom.objects",
    "grasping": "handloom.grasping",
    "render": "handloom.render",
    "motion": "handloom.motion.kinematics handloom.motion.collision "
    "handloom.motion.planning handloom.motion.trajectory",
    "motion_generation": "handloom.isaac.motion_generation",
    "sim": "handloom.sim",
    "isaac": "handloom.isaac.articulation handloom.isaac.wheeled handloom.isaac.graph handloom.isaac.policy",
    "retarget": "handloom.retarget handloom.retarget.so101",
    "values": "handloom.values handloom.spatial handloom.config handloom.errors",
}
"""Page in api/ > the packages it documents."""


def api_page(title: str, packages: str) -> str:
    """Return the source of a page of the API reference."""
    return f"# {title}\n\n" + "\n\n".join(f"::: {package}" for package in packages.split()) + "\n"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for title, packages in API.items():
        files.append(File.generated(config, f"api/{title}.md", content=api_page(title, packages)))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "contributing.md", content=contributing))
    return files
