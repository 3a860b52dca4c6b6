"""Archives: equal bytes, exact contents, tampering found."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import EpisodeArchive, read_archive
from handloom.dataset.episodes.archive import ARCHIVE_FILES, read_npz, write_archive, write_npz
from handloom.dataset.episodes.certificate import Certificate, array_hash, platform_facts
from handloom.errors import FileError, InputError


def sample() -> EpisodeArchive:
    rng = np.random.default_rng(0)
    return EpisodeArchive.made_here(
        instance={"cube": {"position": [0.1, 0.2, 1 / 3]}, "name": "Würfel"},
        commands={"applied": rng.normal(size=(5, 3)), "asked": np.arange(6, dtype=np.int64).reshape(2, 3)},
        states={"integration": rng.normal(size=(5, 40)), "time": np.array(0.5)},
        timeline={"skills": [{"name": "pick", "start": 0, "stop": 5}]},
    )


def test_an_archive_comes_back_exactly(tmp_path: Path) -> None:
    archive = sample()
    write_archive(tmp_path, archive)
    assert sorted(f.name for f in tmp_path.iterdir()) == sorted(ARCHIVE_FILES)
    back = read_archive(tmp_path)
    assert (back.instance, back.timeline, back.certificate) == (archive.instance, archive.timeline, archive.certificate)
    for name, array in {**archive.commands, **archive.states}.items():
        got = {**back.commands, **back.states}[name]
        assert got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)


def test_equal_archives_have_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_archive(tmp_path / name, sample())
    for name in ARCHIVE_FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    with zipfile.ZipFile(tmp_path / "a" / "states.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_tampering_is_found_and_named(tmp_path: Path) -> None:
    write_archive(tmp_path, sample())
    states = read_npz(tmp_path / "states.npz")
    states["integration"][3, 7] = np.nextafter(states["integration"][3, 7], 1e9)
    write_npz(tmp_path / "states.npz", states)
    with pytest.raises(FileError, match="states/integration was changed"):
        read_archive(tmp_path)
    write_archive(tmp_path, sample())
    instance = json.loads((tmp_path / "instance.json").read_text())
    instance["cube"]["position"][0] = 0.11
    (tmp_path / "instance.json").write_text(json.dumps(instance))
    with pytest.raises(FileError, match="instance was changed"):
        read_archive(tmp_path)
    write_archive(tmp_path, sample())
    write_npz(tmp_path / "commands.npz", {"applied": sample().commands["applied"]})
    with pytest.raises(FileError, match="commands/asked is missing"):
        read_archive(tmp_path)


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    write_archive(tmp_path, sample())
    whole = (tmp_path / "states.npz").read_bytes()
    (tmp_path / "states.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"states\.npz is damaged"):
        read_archive(tmp_path)
    (tmp_path / "states.npz").unlink()
    with pytest.raises(FileError, match=r"cannot read .*states\.npz.*does not exist"):
        read_archive(tmp_path)


def test_python_objects_are_not_stored(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds Python objects"):
        write_npz(tmp_path / "a.npz", {"x": np.array([{}])})


def test_the_certificate_tells_another_platform_from_this_one() -> None:
    certificate = sample().certificate
    assert certificate.differences_from_here() == ()
    elsewhere = Certificate(
        versions={**certificate.versions, "numpy": "1.0"},
        platform={**certificate.platform, "cpu_level": "x86-64-v1", "cpu": "another"},
        hashes=certificate.hashes,
    )
    told = elsewhere.differences_from_here()
    assert len(told) == 2
    assert told[0].startswith("numpy 1.0 there")
    assert told[1].startswith("cpu_level x86-64-v1 there")
    assert set(platform_facts()) == {"system", "machine", "cpu", "cpu_level", "libc"}


def test_hashes_see_type_shape_and_value_but_not_memory_order() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert array_hash(array) == array_hash(np.asfortranarray(array)) == array_hash(array.astype(">f8"))
    others = [array.reshape(3, 2), array.astype(np.float32), array + 1e-15, -0.0 * array]
    assert len({array_hash(a) for a in [array, *others]}) == 5
