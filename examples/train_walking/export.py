"""Write the policy files that ship with a robot.

    python examples/train_walking/export.py out/go2 -o .../zoo/go2/policy

The network as ONNX, the training curve as table and image, and instructions for reproducing it.
"""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import torch
import tyro
from gaits import GAITS
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw, ImageFont
from ppo import VAR_FLOOR, Actor

from handloom.isaac.policy.policy_env import PolicyEnv
from handloom.robots import load_robot

# Columns of the training table shown in the curve > colour.
LINES = {
    "velocity": (14, 140, 150),
    "turning": (232, 118, 44),
    "rhythm": (150, 155, 162),
    "likeness": (70, 90, 200),
    "level": (30, 32, 36),
}
KEPT = ("steps", "seconds", "falls", "ends", *LINES, "explained", "std")
ROWS = 120


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the export."""

    run: tyro.conf.Positional[Path]
    """Folder that ``train.py`` wrote."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to write to."""


def restored_actor(robot: str, checkpoint: Path) -> Actor:
    """Return the actor of a checkpoint."""
    state = torch.load(checkpoint, weights_only=True)["actor"]
    description = load_robot(robot)
    env = PolicyEnv(description.folder / "policy" / "env.yaml")
    hidden = [len(bias) for name, bias in state.items() if name.endswith("bias") and name.startswith("layers")][:-1]
    actor = Actor(env, GAITS[robot], description.config.dof_names, tuple(hidden), 1.0)
    actor.load_state_dict(state)
    return actor


def to_onnx(actor: Actor) -> onnx.ModelProto:
    """Return the mean action as a graph: normalise, evaluate the observation and its mirror image, combine both."""
    weights = {name: value.detach().numpy().astype(np.float32) for name, value in actor.state_dict().items()}
    scale = 1.0 / np.sqrt(weights["normalizer.var"] + VAR_FLOOR)
    constants = {"mean": weights["normalizer.mean"], "scale": scale.astype(np.float32)}
    constants |= {"mirror_in": weights["mirror_in"].T.copy(), "mirror_out": weights["mirror_out"].T.copy()}
    constants["half"] = np.array(0.5, dtype=np.float32)
    nodes = [
        helper.make_node("MatMul", ["obs", "mirror_in"], ["mirrored"]),
        helper.make_node("Concat", ["obs", "mirrored"], ["both"], axis=0),
        helper.make_node("Sub", ["both", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "scale"], ["x0"]),
    ]
    layers = sorted(int(name.split(".")[1]) for name in weights if name.startswith("layers") and "bias" in name)
    for index, layer in enumerate(layers):
        weight, bias = f"weight{index}", f"bias{index}"
        constants |= {weight: weights[f"layers.{layer}.weight"], bias: weights[f"layers.{layer}.bias"]}
        nodes.append(helper.make_node("Gemm", [f"x{index}", weight, bias], [f"y{index}"], transB=1))
        if layer != layers[-1]:
            nodes.append(helper.make_node("Elu", [f"y{index}"], [f"x{index + 1}"]))
    nodes += [
        helper.make_node("Split", [f"y{len(layers) - 1}"], ["straight", "reflected"], axis=0, num_outputs=2),
        helper.make_node("MatMul", ["reflected", "mirror_out"], ["back"]),
        helper.make_node("Add", ["straight", "back"], ["sum"]),
        helper.make_node("Mul", ["sum", "half"], ["actions"]),
    ]
    shapes = (("obs", len(weights["mirror_in"])), ("actions", len(weights["mirror_out"])))
    taken, given = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in shapes)
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "walking", [taken], [given], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], producer_name="handloom")
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def curve_rows(file: Path) -> list[dict[str, float]]:
    """Return the downsampled training curve: means over equal parts, and sums of falls and ends."""
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    thinned = []
    for part in np.array_split(np.arange(len(rows)), min(ROWS, len(rows))):
        chosen = [rows[i] for i in part]
        row = {key: float(np.mean([float(r[key]) for r in chosen])) for key in KEPT}
        row |= {key: float(chosen[-1][key]) for key in ("steps", "seconds")}
        row |= {key: sum(float(r[key]) for r in chosen) for key in ("falls", "ends")}
        thinned.append(row)
    return thinned


def curve_picture(rows: list[dict[str, float]], title: str) -> Image.Image:
    """Draw the curves, scaled to 0 to 1, against steps."""
    width, height, left, top = 720, 360, 44, 34
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    last = rows[-1]["steps"]

    def place(steps: float, value: float) -> tuple[float, float]:
        share = (max(value, 0.0), steps / last)
        return left + share[1] * (width - left - 16), height - 30 - share[0] * (height - 30 - top)

    for tick in np.linspace(0.0, 1.0, 6):
        pen.line([place(0, tick), place(last, tick)], fill=(226, 229, 233))
        pen.text((8, place(0, tick)[1] - 8), f"{tick:.1f}", fill=(90, 94, 100), font=font)
        pen.text(
            (place(last * tick, 0)[0] - 14, height - 24), f"{last * tick / 1e6:.1f} M", fill=(90, 94, 100), font=font
        )
    for index, (name, color) in enumerate(LINES.items()):
        pen.line([place(row["steps"], row[name]) for row in rows], fill=color, width=2, joint="curve")
        pen.text((left + 110 * index, 18), name, fill=color, font=font)
    pen.text((left, 2), title, fill=(30, 32, 36), font=font)
    return image


def commands(facts: dict, folder: str) -> list[str]:
    """Return the commands of a training run and of its predecessors, in order."""
    before = commands(facts["after"], f"{folder}_before") if "after" in facts else []
    steps = facts["steps"] - facts.get("after", {"steps": 0})["steps"]
    words = [f"train.py {facts['robot']} --seed {facts['seed']} --steps {steps}"]
    words += [f"--start {folder}_before"] if before else []
    words += ["--weights " + " ".join(f"{k} {v:g}" for k, v in facts["weights"].items())] if facts["weights"] else []
    return [*before, f"python examples/train_walking/{' '.join(words)} -o {folder}"]


def record(facts: dict, rows: list[dict[str, float]]) -> str:
    """Return a description of the training."""
    robot = facts["robot"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [
        *commands(facts, f"out/{robot}"),
        f"python examples/train_walking/export.py out/{robot} -o src/handloom/robots/zoo/{robot}/policy",
    ]
    harness = ", and below 0 a harness holds the robot" if GAITS[robot].first_level < 0 else ""
    return f"""# How this policy was trained

{chr(10).join("    " + line for line in lines)}

{facts["steps"]:,} control periods of {facts["robots"]} robots at once, {rows[-1]["seconds"] / 3600.0:.1f} hours on a shared
machine of two cores; {versions}. The physics is the same whatever the number of threads; other versions of
PyTorch round differently, and train a different, equally good policy.

`curve.csv` and `curve.png`: `velocity`, `turning`, `rhythm` and `likeness` are rewards between 0 and 1 (speed and turn
rate as commanded, feet on the floor as given by the clock, joints near the reference). `level` rises from
{GAITS[robot].first_level:g} to 1: commands grow and pushes begin above 0{harness}. `falls` is the number of
falls among all episode `ends`, per row.
"""


def main(options: Options) -> None:
    """Write everything."""
    facts = json.loads((options.run / "training.json").read_text())
    rows = curve_rows(options.run / "curve.csv")
    options.output.mkdir(parents=True, exist_ok=True)
    onnx.save(
        to_onnx(restored_actor(facts["robot"], options.run / "checkpoint.pt")), str(options.output / "policy.onnx")
    )
    with (options.output / "curve.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, KEPT)
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.4g}" if value < 1e4 else round(value) for key, value in row.items()} for row in rows
        )
    curve_picture(rows, f"{facts['robot']}, seed {facts['seed']}").save(options.output / "curve.png", optimize=True)
    (options.output / "training.md").write_text(record(facts, rows))


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
