"""Links, pipes, holes and strangers in the folders of a run."""

import os
import shutil
from pathlib import Path
from random import Random

from hostile_datasets.kinds import DATA, EPISODE, EPISODES, JSON_FILES, NPZ_FILES, edit_json, kind
from hostile_datasets.videos import video_of


def any_file(run: Path, rng: Random) -> Path:
    return rng.choice(sorted(file for file in (run / "dataset").rglob("*") if file.is_file()))


@kind
def link_to_file(run: Path, rng: Random) -> None:
    """A file that is a link to something of the user's."""
    outside = run.parent / f"{run.name}_outside"
    outside.mkdir(exist_ok=True)
    file = any_file(run, rng)
    (outside / "private").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(rng.choice([outside / "private", "/etc/passwd", "/dev/zero", "/proc/self/mem", "nowhere", file]))


def move_out(run: Path, name: str) -> None:
    """Put a link in the place of a folder, which is elsewhere from now on."""
    outside = run.parent / f"{run.name}_outside"
    outside.mkdir(exist_ok=True)
    shutil.move(run / name, outside / "moved")
    (run / name).symlink_to(outside / "moved")


@kind
def link_to_folder(run: Path, rng: Random) -> None:
    move_out(run, rng.choice(["dataset/extras", "dataset/videos", EPISODE, "dataset/meta"]))


@kind
def link_to_run_folder(run: Path, rng: Random) -> None:
    move_out(run, rng.choice(["dataset", "journal", "episodes"]))


@kind
def link_loop(run: Path, rng: Random) -> None:
    (run / "dataset" / rng.choice(["extras", "meta", "videos"]) / "loop").symlink_to(run / "dataset")


@kind
def link_to_write(run: Path, rng: Random) -> None:
    """A link where a verb would write."""
    victim = run.parent / f"{run.name}_victim"
    victim.write_text("precious")
    name = rng.choice(["lock", "lock.merge"])
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim)


@kind
def pipe(run: Path, rng: Random) -> None:
    """Reading a pipe waits for ever."""
    file = any_file(run, rng)
    file.unlink()
    os.mkfifo(file)


@kind
def folder_for_file(run: Path, rng: Random) -> None:
    file = any_file(run, rng)
    file.unlink()
    file.mkdir()


@kind
def file_for_folder(run: Path, rng: Random) -> None:
    folder = run / "dataset" / rng.choice(["extras", "videos", "data", "meta/episodes", "extras/episode_000001"])
    shutil.rmtree(folder)
    folder.write_text("no folder")


@kind
def missing(run: Path, rng: Random) -> None:
    any_file(run, rng).unlink()


@kind
def foreign_episodes(run: Path, rng: Random) -> None:
    extras = run / "dataset" / "extras"
    for name in ("episode_999999", "episode_xyz", "episode_000002", "episode_-00001", "episode_000000 "):
        if rng.random() < 0.6:
            shutil.copytree(extras / "episode_000000", extras / name)
    (extras / "episode_1").mkdir()


@kind
def swapped_episodes(run: Path, rng: Random) -> None:
    """The archive of another episode in an episode's place."""
    extras = run / "dataset" / "extras"
    shutil.rmtree(extras / "episode_000000")
    shutil.copytree(extras / "episode_000001", extras / "episode_000000")


@kind
def strange_names(run: Path, rng: Random) -> None:
    for name in (b"new\nline", b"\xff\xfe", b"\x1b[2J", b"-o", b"a" * 200):
        os.close(os.open(os.fsencode(run / "dataset" / "extras") + b"/" + name, os.O_CREAT | os.O_WRONLY))


@kind
def sparse_files(run: Path, rng: Random) -> None:
    """Files of terabytes that take no room, and hashes that would have to be computed over them."""
    file = run / rng.choice([DATA, EPISODES, *NPZ_FILES, str(video_of(run).relative_to(run))])
    os.truncate(file, 2**40)
    name = str(file.relative_to(run / "dataset"))
    edit_json(run / JSON_FILES[2], lambda listing: listing.update({name: {"bytes": 2**40, "sha256": "0" * 64}}))
