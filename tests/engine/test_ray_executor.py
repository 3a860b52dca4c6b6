"""Ray actors give the same results as worker processes, and may be lost with their machine."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.executors.ray_executor import RayExecutor
from handloom.engine.executors.remote_attempt import Storage
from handloom.errors import StateError
from handloom.tasks import load_task

ray = pytest.importorskip("ray", reason="needs the extra ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")
NODE = {"object_store_memory": 100_000_000, "include_dashboard": False}


@pytest.fixture(autouse=True)
def functions_on_the_path(monkeypatch):
    """Actors import work functions by name, so their folder must be on the path of every process."""
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, sys.path)]))


@pytest.fixture
def cluster() -> Iterator[cluster_utils.Cluster]:
    """A cluster whose first machine has no core for work."""
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **NODE})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def begin(folder: Path) -> RunDirectory:
    return RunDirectory.begin(folder, RunSettings.of_task(load_task("fr3_pick_cube", overrides=SMALL), seed=11))


def digest(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, str]:
    run = begin(tmp_path_factory.mktemp("inline") / "run")
    generate_run(run, Goal(successes=6), InlineExecutor())
    return digest(run.dataset)


def test_a_run_on_ray_writes_the_same_bytes(undisturbed, tmp_path):
    run = begin(tmp_path / "run")
    generate_run(run, Goal(successes=6), RayExecutor(2))
    assert digest(run.dataset) == undisturbed


class Observed(RayExecutor):
    """Writes down which workers were lost."""

    crashes: tuple[str, ...] = ()

    def run(self, function, items):
        for finished in super().run(function, items):
            self.crashes += (finished.crash,) if finished.crash else ()
            yield finished


def test_a_machine_lost_in_the_middle_changes_no_byte(cluster, undisturbed, tmp_path):
    run = begin(tmp_path / "run")
    cluster.add_node(num_cpus=1, **NODE)
    doomed = cluster.add_node(num_cpus=1, **NODE)
    cluster.wait_for_nodes()
    lost = []

    def lose_a_machine(_):
        if len(run.receipts()) >= 2 and not lost:  # Both machines are at work by now.
            lost.append(doomed)
            cluster.remove_node(doomed, allow_graceful=False)

    executor = Observed(address=cluster.address)
    generate_run(run, Goal(successes=6), executor, on_receipts=lose_a_machine)
    assert executor.workers == 2, "as many as the cluster had cores"
    assert len(executor.crashes) == len(lost) == 1
    assert "the actor was lost" in executor.crashes[0]
    assert digest(run.dataset) == undisturbed


def test_machines_that_do_not_see_the_folder_hand_their_episodes_back(cluster, undisturbed, tmp_path):
    run = begin(tmp_path / "hidden" / "run")
    # The processes of the second machine see an empty folder where the run is.
    hide = f"mount -t tmpfs none {tmp_path / 'hidden'} && ls {tmp_path / 'hidden'} | wc -l && exec "
    start = f"{sys.executable} -m ray.scripts.scripts start --address={cluster.address} --num-cpus=2 --block"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-Urm", "true"], check=False).returncode:
        pytest.skip("this system has no namespaces for mounts")
    log = open(tmp_path / "node.log", "w+")  # noqa: SIM115 - the node writes to it until the end
    machine = subprocess.Popen(["unshare", "-Urm", "sh", "-c", hide + start], stdout=log, stderr=log)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        wait_until(lambda: ray.cluster_resources().get("CPU", 0) == 2)
        generate_run(run, Goal(successes=6), RayExecutor())
    finally:
        machine.terminate()
        machine.wait()
    assert (tmp_path / "node.log").read_text().startswith("0\n"), "the folder of the run was hidden"
    assert digest(run.dataset) == undisturbed


@pytest.fixture
def bucket(monkeypatch) -> Iterator[str]:
    """The URL of a bucket of an S3 server on this machine."""
    server = pytest.importorskip("moto.server", reason="the S3 server of the tests is moto[server]")
    s3fs = pytest.importorskip("s3fs", reason="needs the extra cloud")
    serving = server.ThreadedMotoServer(port=0, verbose=False)
    serving.start()
    host, port = serving.get_host_and_port()
    # What an earlier test left is kept by the package, not by its server.
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # Those of an earlier test know its server only.
    s3fs.S3FileSystem(skip_instance_cache=True).mkdir("weaving")
    yield "s3://weaving"
    serving.stop()


def test_four_machines_with_s3_between_them_and_two_lost_change_no_byte(cluster, bucket, undisturbed, tmp_path):
    run = begin(tmp_path / "run")
    nodes = [cluster.add_node(num_cpus=1, **NODE) for _ in range(4)]
    cluster.wait_for_nodes()
    doomed = nodes[:2]

    def lose_a_machine(_):
        if doomed and len(run.receipts()) >= 3 - len(doomed):  # One after the first receipt, one after the second.
            cluster.remove_node(doomed.pop(), allow_graceful=False)

    executor = Observed(address=cluster.address)
    generate_run(run, Goal(successes=6), executor, staging=f"{bucket}/staged", on_receipts=lose_a_machine)
    assert executor.workers == 4, "as many as the cluster had cores"
    assert not doomed
    assert sum("the actor was lost" in crash for crash in executor.crashes) == 2
    assert digest(run.dataset) == undisturbed


def test_shards_in_s3_are_merged_without_passing_through(bucket, tmp_path, monkeypatch):
    import s3fs

    from handloom.dataset import DatasetReader
    from handloom.dataset.files.storage import Storage as Files
    from handloom.dataset.merging.merge_shards import merge_shards
    from handloom.engine.runs.shards import shard_goal, shard_place, shard_urls, upload_shard
    from handloom.engine.verification.verify import dataset_faults

    fetched = []
    download = Files.download
    monkeypatch.setattr(Files, "download", lambda self, name, file: fetched.append(name) or download(self, name, file))
    for number in range(2):
        run = begin(tmp_path / f"machine{number}")
        generate_run(run, shard_goal(Goal(attempts=4), (number, 2)), InlineExecutor())
        upload_shard(run, shard_place(f"{bucket}/parts", (number, 2)))
    merge_shards(shard_urls([f"{bucket}/parts"]), f"{bucket}/parts/dataset")
    assert fetched
    assert not any(name.endswith(".mp4") for name in fetched), "videos are copied by the store"
    s3fs.S3FileSystem(skip_instance_cache=True).get("weaving/parts/dataset", str(tmp_path / "dataset"), recursive=True)
    assert not dataset_faults(tmp_path / "dataset")
    whole = begin(tmp_path / "whole")
    generate_run(whole, Goal(attempts=4), InlineExecutor())
    made, wanted = DatasetReader(tmp_path / "dataset"), DatasetReader(whole.dataset)
    assert [dict(e.columns) for e in made.episodes] == [dict(e.columns) for e in wanted.episodes]
    assert all(made.rows(i).equals(wanted.rows(i)) for i in range(wanted.episode_count))


def test_episodes_come_by_way_of_s3(bucket, undisturbed, tmp_path):
    import s3fs

    run = begin(tmp_path / "run")
    staging = f"{bucket}/staged"
    Storage(staging).check()
    generate_run(run, Goal(successes=6), RayExecutor(2), staging=staging)
    assert digest(run.dataset) == undisturbed
    left = s3fs.S3FileSystem(skip_instance_cache=True).find("weaving")
    assert all(int(name[-10:-4]) > max(run.receipts()) for name in left), "only attempts that came too late to count"
    with pytest.raises(StateError, match=r"cannot write s3://nobodys/check-\w+: .*check the URL and the credentials"):
        Storage("s3://nobodys").check()


def wait_until(condition, seconds: float = 60.0) -> None:
    pause = threading.Event()
    for _ in range(int(seconds / 0.2)):
        if condition():
            return
        pause.wait(0.2)
    raise AssertionError(f"not within {seconds} s")


def test_a_lost_actor_is_reported_and_the_rest_goes_on(tmp_path):
    import crashing

    items = [str(tmp_path / name) for name in "ab"]
    finished = list(RayExecutor(2).run(crashing.die_once, iter(items)))
    assert {f.item for f in finished} == set(items)
    assert all("actor was lost" in f.crash for f in finished)
    assert [f.result for f in RayExecutor(2).run(crashing.die_once, iter(items))] == ["alive"] * 2


def test_an_actor_that_waits_for_a_core_is_not_taken_for_hung(cluster):
    import crashing

    cluster.add_node(num_cpus=1, **NODE)
    executor = RayExecutor(3, address=cluster.address, timeout=4.0)
    finished = list(executor.run(crashing.nap, iter([1.5] * 6)))
    assert [f.crash for f in finished] == [""] * 6


def test_a_hung_actor_is_ended_after_its_time():
    import crashing

    finished = {f.item: f for f in RayExecutor(2, timeout=4.0).run(crashing.hang, iter([0, 1, 2]))}
    assert (finished[0].result, finished[2].result) == (0, 2)
    assert "no result after 4 s" in finished[1].crash


def test_an_error_that_cannot_travel_arrives_in_words():
    import crashing

    with pytest.raises(StateError, match="a worker failed with UnportableError: this and that"):
        list(RayExecutor(1).run(crashing.fail, iter([0])))


def test_machines_on_which_the_work_cannot_be_imported_are_named():
    import crashing

    with pytest.raises(StateError, match=r"actors cannot be started: .*No module named 'handloom'"):
        list(RayExecutor(1).run(crashing.Unloadable(), iter([0])))


def test_a_cluster_that_is_not_there_is_named():
    with pytest.raises(StateError, match=r"cannot reach Ray at 127.0.0.1:1: .*check --ray-address"):
        RayExecutor(1, address="127.0.0.1:1").connect()
