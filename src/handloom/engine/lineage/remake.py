"""Reproduce a dataset from its certificate, and compare the result byte for byte."""

from dataclasses import dataclass
from pathlib import Path

from handloom.dataset.episodes.certificate import Certificate
from handloom.dataset.lerobot.file_list import read_list
from handloom.engine.executors.executor import Executor
from handloom.engine.generate import ReceiptCallback, generate_run
from handloom.engine.labelling import label_dataset
from handloom.engine.lineage.dataset_certificate import read_certificate, root_of
from handloom.engine.runs.goal import Goal
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.trust import trusted_task
from handloom.errors import FileError, InputError
from handloom.tasks.config.checking import demand_code


@dataclass(frozen=True, kw_only=True)
class Remade:
    """Result of reproducing a dataset."""

    dataset: Path
    same: bool
    """Whether it has the certified bytes."""
    elsewhere: tuple[str, ...]
    """Differences between this machine and the one that made the original; bits may then differ."""


def remake(
    certificate: Path, out: Path, executor: Executor, *, on_receipts: ReceiptCallback = lambda _: None
) -> Remade:
    """Repeat the run of a certificate in a new folder; called again after a kill, it continues.

    Args:
        certificate: ``certificate.json``, or the dataset that contains it.
        out: Folder of the new run.
        executor: Runs the attempts.
        on_receipts: Called with finished attempts.

    Raises:
        FileError: There is no certificate.
        InputError: It does not name the run that made the dataset.
        NotAllowedError: Its task refers to code or files that the user did not allow.
    """
    file = certificate / "certificate.json" if certificate.is_dir() else certificate
    if not file.is_file():
        raise FileError(f"there is no certificate {file}; handloom publish writes one")
    told = read_certificate(file)
    if not told["run"] or not told["attempts"]:
        raise InputError(f"{file} does not name the run that made the dataset, so it cannot be made again")
    settings = RunSettings.model_validate(told["run"])
    if settings.task.get("retold") is not None:
        raise InputError(
            f"{file} is of a run that retells the scenes of another dataset, which a certificate does not contain; "
            "remake that dataset, then run handloom retell on it"
        )
    settings = settings.model_copy(update={"task_path": str(file.resolve().parent / Path(settings.task_path).name)})
    task = trusted_task(settings.loaded_task(), file.resolve().parent)
    demand_code(task)
    settings = settings.model_copy(update={"task_path": str(task.path)})
    run = RunDirectory.begin(out, settings)
    generate_run(run, Goal(attempts=told["attempts"]), executor, on_receipts=on_receipts)
    if told["labels"]:
        label_dataset(run.path, told["labels"], executor)
    here = Certificate(versions=told["versions"], platform=told["platform"], hashes={}).differences_from_here()
    return Remade(dataset=run.dataset, same=root_of(read_list(run.dataset)) == told["root"], elsewhere=here)
