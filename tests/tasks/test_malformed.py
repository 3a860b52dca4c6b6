"""Whatever a task file says, the answer is a scene or one clear error: never a traceback, a hang or a crash."""

import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from mutations import mutated

from handloom.cli.main import main
from handloom.config import read_document
from handloom.errors import HandloomError
from handloom.scene import build_scene
from handloom.tasks import library, load_task, sample_task


def whole(path, **more):
    """Return a file with its base files written out, so that it can lie anywhere, and with more keys in its task."""
    values = read_document(path).values
    values.get("tasks", [values])[0].update(more)
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None)


PUBLISHED = sorted((Path(__file__).parent / "published").glob("*.yaml"))
LIMIT = 60
"""Seconds of wall time after which a file counts as a hang, on a machine that does other things too."""


@contextmanager
def limited():
    def give_up(*_):
        raise AssertionError(f"still busy after {LIMIT} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)


def outcome(file):
    """Return what happens to a task file, in a word."""
    with limited():
        try:
            task = load_task(file)
        except HandloomError as error:
            return "refused" if str(error).strip() else "without words"
        try:
            build_scene(sample_task(task, 0, 0))
        except HandloomError as error:
            return "not sampled" if str(error).strip() else "without words"
    return "sampled"


def run_mutations(folder, seeds):
    texts = [
        *(whole(path) for _, path in sorted(library().items())),
        *(whole(file, proxy_assets=True) for file in PUBLISHED),
    ]
    counts = dict.fromkeys(("refused", "not sampled", "sampled"), 0)
    for seed in seeds:
        file = folder / "task.yaml"
        text = mutated(texts[seed % len(texts)], seed)
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            counts[outcome(file)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n{text[:3000]}") from error
    return counts


@pytest.mark.skipif(sys.platform == "win32", reason="uses an alarm")
def test_mutated_task_files_give_a_scene_or_a_clear_error(tmp_path):
    counts = run_mutations(tmp_path, range(60))
    assert min(counts["refused"], counts["sampled"]) > 10


@pytest.mark.slow
def test_two_thousand_mutated_task_files(tmp_path):
    counts = run_mutations(tmp_path, range(1000, 3000))
    assert sum(counts.values()) == 2000
    assert min(counts["refused"], counts["sampled"], 10 * counts["not sampled"]) > 200, counts


def many(count):
    return (
        "tasks: [{robots: [{name: r, robot_config_file: fr3}], skills: [{r: []}], objects: ["
        + ",".join(f"{{name: o{i}, target_class: RigidObject, category: cube}}" for i in range(count))
        + "]}]"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.yaml", bytes(range(256)) * 40),
        ("latin1.yaml", "name: café\n".encode("latin-1")),
        ("utf16.yaml", "name: t\n".encode("utf-16")),
        ("bom.yaml", b"\xef\xbb\xbfname: t\n"),
        ("big.yaml", b"a: " + b"x" * 10_000_000),
        ("many_keys.yaml", b"\n".join(b"k%d: 1" % i for i in range(400_000))),
        ("brackets.yaml", b"[" * 1_000_000),
        ("braces.yaml", b"{" * 1_000_000),
        ("dashes.yaml", b"- " * 500_000),
        ("keys.yaml", b"? " * 500_000),
        ("anchors.yaml", b"a: " + b" ".join(b"&a%d" % i for i in range(2000))),
        ("circle.yaml", b"base: circle.yaml\n"),
        ("itself.yaml", b"base: /dev/stdin\n"),
        ("many_objects.yaml", many(5000).encode()),
        ("nul.yaml", b"\0\0\0\0"),
        ("empty.yaml", b""),
        ("number.yaml", b"12"),
        ("text.yaml", b"hello"),
        ("list.yaml", b"- 1\n- 2\n"),
    ],
)
def test_files_that_are_no_task_files_end_with_two_and_name_the_file(tmp_path, capsys, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with limited():
        for verb in ("check", "sample"):
            assert main([verb, str(file)]) == 2
            said = capsys.readouterr()
            text = said.out + said.err
            assert name in text
            assert "Traceback" not in text
            assert len(text) < 20_000


def test_folders_links_and_missing_files_end_with_two(tmp_path, capsys):
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    (tmp_path / "a.yaml").symlink_to(tmp_path / "b.yaml")
    (tmp_path / "b.yaml").symlink_to(tmp_path / "a.yaml")
    (tmp_path / "folder.yaml").mkdir()
    for name in ("loop.yaml", "a.yaml", "folder.yaml", "none.yaml"):
        for verb in ("check", "sample"):
            assert main([verb, str(tmp_path / name)]) == 2, (verb, name)
            said = capsys.readouterr()
            assert name in said.out + said.err
    for files in ("arena_file: loop.yaml", "arena_file: folder.yaml", "arena_file: /dev/zero"):
        text = library()["fr3_pick_cube"].read_text().replace("arena_file: arenas/table.yaml", files)
        (tmp_path / "task.yaml").write_text(text)
        assert main(["check", str(tmp_path / "task.yaml")]) == 2
        assert files.partition(": ")[2] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("parameters: {edge: 0.05}", "parameters: {edge: 1e308}"),
        ("parameters: {edge: 0.05}", "parameters: {edge: -0.04}"),
        ("parameters: {edge: 0.05}", "parameters: {edge: .nan}"),
        ("parameters: {edge: 0.05}", "scale: [1e30, 1e30, 1e30]"),
        ("parameters: {edge: 0.05}", "mass: 1e300"),
        ("parameters: {edge: 0.05}", "mass: -1"),
        ("euler: [0.0, 0.0, 90.0]", "euler: [.inf, 0, 0]"),
        ("[[-0.2, 0.0, 0.0], [0.2, 0.22, 0.0]]", "[[-1e308, 0, 0], [1e308, 0, 0]]"),
        ("[[-0.2, 0.0, 0.0], [0.2, 0.22, 0.0]]", "[[1e6, 0, 0], [1e6, 0, 0]]"),
        ("max_episode_length: 400", "max_episode_length: 1000000000"),
        ("max_episode_length: 400", "fps: 0"),
        ("size: [224, 224]", "size: [1000000, 1000000]"),
        (
            "arena_file: arenas/table.yaml",
            "distractors: {target: table, max_num: 1000000000, pos_range: [[0, 0], [1, 1]]}",
        ),
        ("arena_file: arenas/table.yaml", "fluid: {container_name: cube, numParticlesX: 1000000000}"),
        ("arena_file: arenas/table.yaml", "table_height: [-3, -2]"),
        ("arena_file: arenas/table.yaml", "physics: {friction: [-1, 0]}"),
    ],
)
def test_absurd_numbers_are_refused_with_file_and_line(tmp_path, capsys, old, new):
    text = library()["fr3_pick_cube"].read_text()
    assert old in text
    file = tmp_path / "task.yaml"
    file.write_text(text.replace(old, new))
    with limited():
        assert main(["sample", str(file)]) == 2
    said = capsys.readouterr()
    assert f"{file}:" in said.out + said.err
