"""A dataset's lineage: its certificate, samples of it, and the same bytes made again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.dataset.lerobot.file_list import read_list
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.labelling import label_dataset
from handloom.engine.lineage import CERTIFICATE, check_certificate, remake, write_certificate
from handloom.engine.lineage.dataset_certificate import is_proved, proof_of, read_certificate, root_of
from handloom.engine.publishing import CARD, PICTURE, write_card
from handloom.errors import FileError, InputError
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> RunDirectory:
    settings = RunSettings.of_task(load_task("fr3_pick_cube", overrides=SMALL), seed=3)
    run = RunDirectory.begin(tmp_path_factory.mktemp("lineage") / "run", settings)
    generate_run(run, Goal(attempts=2), InlineExecutor())
    label_dataset(run.path, ("steps", "words"), InlineExecutor())
    return run


@pytest.fixture
def run(made: RunDirectory, tmp_path: Path) -> RunDirectory:
    shutil.copytree(made.path, tmp_path / "run")
    return RunDirectory.open(tmp_path / "run")


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_every_file_is_proved_to_be_in_the_tree_and_no_other_is(count: int):
    files = {f"f{k}": {"bytes": k, "sha256": f"{k:064x}"} for k in range(count)}
    root = root_of(files)
    for name, entry in files.items():
        proof = proof_of(files, name)
        assert is_proved(root, name, entry, proof)
        assert not is_proved(root, name, {**entry, "bytes": entry["bytes"] + 1}, proof)
        assert len(proof) <= max(count - 1, 0).bit_length()
    assert root_of({**files, "more": {"bytes": 1, "sha256": "0" * 64}}) != root


def test_the_certificate_names_run_versions_and_files(run: RunDirectory):
    told = read_certificate(write_certificate(run.path))
    assert (told["episodes"], told["attempts"]) == (2, 2)
    assert told["run"]["seed"] == 3
    assert told["run"]["task_path"] == "fr3_pick_cube.yaml"  # Not where it lay.
    assert told["labels"] == ["steps", "words"]
    assert told["root"] == root_of(read_list(run.dataset))
    assert "mujoco" in told["versions"]
    assert check_certificate(run.dataset) == ()


def test_a_changed_list_no_longer_fits_the_certificate(run: RunDirectory):
    write_certificate(run.path)
    listing = json.loads((run.dataset / "meta/files.json").read_text())
    listing["data/chunk-000/file-000.parquet"]["sha256"] = "0" * 64
    (run.dataset / "meta/files.json").write_text(json.dumps(listing))
    assert any("root" in fault for fault in check_certificate(run.dataset))


def test_a_signature_holds_for_the_certificate_and_its_key_only(run: RunDirectory, tmp_path: Path):
    pytest.importorskip("cryptography", reason="the package cryptography is not installed")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key = tmp_path / "key.pem"
    key.write_bytes(Ed25519PrivateKey.generate().private_bytes(*pem))
    file = write_certificate(run.path, key=key)
    told = read_certificate(file)
    assert check_certificate(run.dataset, public_key=told["signature"]["public_key"]) == ()
    assert check_certificate(run.dataset, public_key="0" * 64)
    file.write_text(json.dumps({**told, "episodes": 3}))
    assert check_certificate(run.dataset) == (f"{CERTIFICATE}: the signature does not match",)
    key.write_text("no key")
    with pytest.raises(InputError, match="is not an unencrypted private key"):
        write_certificate(run.path, key=key)
    with pytest.raises(FileError, match="openssl genpkey"):
        write_certificate(run.path, key=tmp_path / "none.pem")


def test_the_same_bytes_are_made_again_labels_included(run: RunDirectory, tmp_path: Path):
    file = write_certificate(run.path)
    alone = tmp_path / "elsewhere" / CERTIFICATE
    alone.parent.mkdir()
    shutil.copyfile(file, alone)
    again = remake(alone, tmp_path / "again", InlineExecutor())
    assert again.same
    assert again.elsewhere == ()
    assert read_list(again.dataset) == read_list(run.dataset)


def test_another_seed_gives_other_bytes_and_is_told(run: RunDirectory, tmp_path: Path):
    file = write_certificate(run.path)
    told = read_certificate(file)
    file.write_text(json.dumps({**told, "run": {**told["run"], "seed": 4}}))
    assert not remake(file, tmp_path / "again", InlineExecutor()).same


def test_a_dataset_of_an_unknown_run_cannot_be_made_again(run: RunDirectory, tmp_path: Path):
    shutil.copytree(run.dataset, tmp_path / "alone")
    file = write_certificate(tmp_path / "alone")
    with pytest.raises(InputError, match="does not name the run"):
        remake(file, tmp_path / "again", InlineExecutor())
    with pytest.raises(FileError, match="handloom publish writes one"):
        remake(tmp_path / "nothing.json", tmp_path / "again", InlineExecutor())


def test_a_sample_is_verified_and_a_changed_archive_in_it_found(run: RunDirectory, capsys):
    write_certificate(run.path)
    assert main(["verify", str(run.dataset), "--sample", "1", "--seed", "0", "--workers", "0"]) == 0
    assert "1 of 1 episodes replay bit for bit" in capsys.readouterr().out
    for folder in (run.dataset / "extras").iterdir():
        (folder / "timeline.json").write_text("{}")
    assert main(["verify", str(run.dataset), "--sample", "1", "--seed", "0", "--workers", "0"]) == 1
    assert "was changed" in capsys.readouterr().out
    assert main(["verify", str(run.dataset), "--sample", "0"]) == 2


def test_the_card_says_what_it_is_and_how_to_make_it_again(run: RunDirectory):
    text = write_card(run.path, licence="cc-by-4.0").read_text()
    assert text.startswith("---\nlicense: cc-by-4.0\n")
    for words in ("fr3_pick_cube", "| episodes | 2, of them 2 successful |", "handloom remake", "--sample 50"):
        assert words in text
    assert (run.dataset / PICTURE).is_file()
    assert (run.dataset / CARD).is_file()
    assert main(["verify", str(run.path), "--workers", "0"]) == 0  # They are no part of what was merged.


SERVER = Path(__file__).parent / "hub_server.py"


def test_publish_uploads_to_a_server_that_speaks_the_protocol_of_the_hub(run: RunDirectory, tmp_path: Path, capsys):
    pytest.importorskip("huggingface_hub", reason="the package huggingface_hub is not installed")
    store = tmp_path / "store"
    with subprocess.Popen([sys.executable, str(SERVER), str(store)], stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            assert main(["publish", str(run.path), "--repo", "me/cubes", "--endpoint", address]) == 0
        finally:
            server.terminate()
    assert f"{address}/datasets/me/cubes" in capsys.readouterr().out
    assert (store / "me/cubes/README.md").read_text() == (run.dataset / CARD).read_text()
    assert (store / "me/cubes/meta/info.json").read_bytes() == (run.dataset / "meta/info.json").read_bytes()


def test_publish_without_the_package_says_what_to_install(run: RunDirectory, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert main(["publish", str(run.path), "--repo", "me/cubes"]) == 2
    assert "handloom[hub]" in capsys.readouterr().err
