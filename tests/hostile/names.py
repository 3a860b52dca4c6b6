"""Names and paths that a stranger writes into files, to reach what is not his."""

import random
from pathlib import Path

from canaries import TOKEN

Words = list[str]
ODD = (
    "..", ".", "...", "", " ", "~", "~root", "-rf", "--output", "nul", "CON", "COM1.txt", "a/b", "a\\b", "a:b",
    "x" * 300, "y" * 5000, "ü" * 200, "$HOME", "`touch ran`", "$(touch ran)", "; touch ran", "%2e%2e%2fprivate",
    "\u202egnp", "a\nb", "stranger:brick", "os:system", "*", "{0}", "%s", "CLOCK$", ".bashrc", "object", "world",
)  # fmt: skip
LINKS = {
    "link": "victim", "link.xml": "model.xml", " odd.xml": "model.xml", "link.stl": "mesh.stl", " odd.stl": "mesh.stl",
    "a&copy.stl": "mesh.stl", "link.obj": "mesh.obj", "link.mtl": "skin.mtl", "link.png": "picture.png",
    "link.usda": "stage.usda", "link.yaml": "secret.yaml", "link.npy": "secret.npy", "link_robot": "robot", "out": "",
}  # fmt: skip


def outside_of(folder: Path) -> Path:
    """Return the canaries beside the home that a stranger's folder is in."""
    return folder.parents[2] / "outside"


def name(folder: Path, rng: random.Random) -> str:
    """Return what a body, a task, a camera or a joint is called."""
    ways = [lambda: rng.choice(ODD), lambda: far(folder, "victim", rng), lambda: far(folder, "victim/new", rng)]
    return rng.choice(ways)()


def far(folder: Path, file: str, rng: random.Random) -> str:
    """Return a path to a canary as a stranger may write it; ``folder`` is that of the file it is written in."""
    outside = outside_of(folder)
    ups = "../" * rng.randrange(1, 9)
    fits = [link for link, there in LINKS.items() if there == file]
    ways = [
        str(outside / file),
        f"../../../outside/{file}",
        f"../../private/{file}",
        f"{ups}outside/{file}",
        f"{ups}private/{file}",
        f"../../../outside/{file}".replace("/", "\\"),
        f"~/private/{file}",
        f"file://{outside / file}",
        f"package://../../../outside/{file}",
        f"package://outside/{file}",
        f"out/{file}",
        f"deep/../../../../outside/{file}",
        f"./././{ups}outside/{file}",
        *fits,
    ]
    return rng.choice(ways)


def plant_links(folder: Path) -> None:
    """Put links to canaries beside a stranger's files, some with names that readers take for others."""
    outside = outside_of(folder)
    for link, there in LINKS.items():
        (folder / link).symlink_to(outside / there)
    (folder / "one" / "two").mkdir(parents=True)
    (folder / "deep").symlink_to("one/two")


def xml(text: str) -> str:
    """Return a text as the value of an attribute; what XML cannot say is left out."""
    kept = "".join(c for c in text if c in "\n\t" or ord(c) >= 32)
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;").replace('"', "&quot;")


def spilled(*folders: Path) -> list[str]:
    """Return the files below some folders in which a canary's contents lie."""
    files = (file for folder in folders for file in sorted(folder.rglob("*")) if not file.is_symlink())
    return [str(file) for file in files if file.is_file() and TOKEN.encode() in file.read_bytes()]
