"""Untrusted ONNX files: opened without reading anything outside their folder, run on one core.

ONNX Runtime runs no code of a model but its own operators; libraries of custom ones are never loaded. The remaining
risk is ``external_data``, by which a model names files with its weights.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from handloom.errors import FileError, require

LARGEST = 2**31
"""Largest model [bytes]; protocol buffers have the same limit."""


class OnnxFile(NamedTuple):
    """An opened model."""

    model: Any
    """``onnx.ModelProto`` without the weights that lie in other files."""
    session: Any
    """``onnxruntime.InferenceSession``."""
    metadata: dict[str, str]
    """Metadata of the model."""


def open_onnx(path: Path) -> OnnxFile:
    """Open an ONNX file.

    Raises:
        FileError: It is not a runnable model, or refers to files outside its folder.
        MissingExtraError: The packages for ONNX are not installed.
    """
    onnx, runtime = require("onnx", extra="policy"), require("onnxruntime", extra="policy")
    if path.stat().st_size > LARGEST:
        raise FileError(f"{path} has {path.stat().st_size} bytes; an ONNX file may have at most {LARGEST}")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:
        raise FileError(f"{path}: cannot be read as ONNX: {first_line(error)}") from error
    for tensor in _tensors(model):
        _refuse_outside(path, tensor)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # Errors are raised as well.
    try:
        # ONNX Runtime prints a banner when a model fails; standard output is for results.
        with contextlib.redirect_stdout(io.StringIO()):
            session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        # Metadata that is not text fails here, and not later when it is used.
        named = [node.name for node in (*session.get_inputs(), *session.get_outputs())]
        said = {entry.key: entry.value for entry in model.metadata_props}
    # ONNX Runtime has many exceptions without a common base class.
    except Exception as error:
        raise FileError(f"{path}: cannot be read as ONNX: {first_line(error)}") from error
    if not named:
        raise FileError(f"{path}: the network has neither inputs nor outputs")
    return OnnxFile(model, session, said)


def first_line(error: Exception) -> str:
    """Return the first line of the message of another package's error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _refuse_outside(path: Path, tensor: Any) -> None:
    places = [entry.value for entry in tensor.external_data if entry.key == "location"]
    folder = path.resolve().parent
    for place in places:
        # An absolute path replaces the folder, and links are followed.
        if not (folder / place).resolve().is_relative_to(folder):
            raise FileError(f"{path}: weights {tensor.name!r}: the file {place!r} lies outside the folder of the model")


def _tensors(message: Any) -> Iterator[Any]:
    """Yield every tensor of a message, including those of sub-graphs, functions and attributes."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for part in value if hasattr(value, "__len__") else (value,):
            if field.message_type.name == "TensorProto":
                yield part
            else:
                yield from _tensors(part)
