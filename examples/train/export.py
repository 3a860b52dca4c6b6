"""Writes a trained policy as one ONNX file that ``handloom evaluate TASK --policy model.onnx`` runs.

    python export.py model.pt model.onnx

Inputs have the names of observations, the output is a chunk of tool poses in the arm's base: the geometry between
observations and network is part of the file.
"""

from pathlib import Path

import onnx
import torch
import tyro
from model import ARM, CHUNK, Trained
from torch import Tensor, nn

STATE = ("observation.state", "observation.ee_pose.base")
WORLD = "observation.ee_pose.world"


class Deployed(nn.Module):
    """The network between observations and actions."""

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.network, self.config = trained.network, trained.config
        self.register_buffer("T_tool_tcp", torch.tensor(trained.robot["T_tool_tcp"], dtype=torch.float32))
        self.register_buffer("T_tcp_tool", torch.linalg.inv(self.T_tool_tcp))
        self.openings = trained.robot["opening_index"].tolist()

    def forward(self, state: Tensor, pose: Tensor, noise: Tensor, *seen: Tensor) -> Tensor:
        """Return actions (1, execute, n) from observations with a batch axis of 1."""
        parts, tools = [], []
        for arm, opening in enumerate(self.openings):
            T_base_tool = matrix(pose[:, 7 * arm : 7 * arm + 7])
            T_base_tcp = T_base_tool @ self.T_tool_tcp[arm]
            tools.append(T_base_tcp)
            parts += [state[:, opening : opening + 1], T_base_tcp[:, :3, 3], T_base_tcp[:, :3, 0], T_base_tcp[:, :3, 1]]
            if not self.config.cameras:
                T_base_world = T_base_tool @ inverse(matrix(seen[0][:, 7 * arm : 7 * arm + 7]))
                parts += [part for seven in seen[1:] for part in placed(T_base_tcp, T_base_world @ matrix(seven))]
        pictures = state
        if self.config.cameras:
            pictures = torch.stack([picture.permute(0, 3, 1, 2).float() / 255 for picture in seen], 1)
        chunk = self.network(torch.cat(parts, -1), pictures, noise)[0, : self.config.execute]
        actions = []
        for arm, T_base_tcp in enumerate(tools):
            step = chunk[:, ARM * arm : ARM * (arm + 1)]
            x = nn.functional.normalize(step[:, 3:6], dim=-1)
            y = nn.functional.normalize(step[:, 6:9] - (x * step[:, 6:9]).sum(-1, keepdim=True) * x, dim=-1)
            R = torch.stack([x, y, torch.linalg.cross(x, y)], -1)
            T_base_goal = T_base_tcp @ pose4(R, step[:, :3]) @ self.T_tcp_tool[arm]
            opening = (step[:, 9:] > 0.5).float() if self.config.firm else step[:, 9:]
            actions += [T_base_goal[:, :3, 3], quaternion(T_base_goal[:, :3, :3]), opening]
        return torch.cat([*actions, chunk[:, ARM * self.config.arms :]], -1)[None]


def placed(T_base_tcp: Tensor, T_base_object: Tensor) -> list[Tensor]:
    """Return the entries of ``state_vector`` for a body."""
    T = inverse(T_base_tcp) @ T_base_object
    turn = torch.atan2(T[:, 1, 0] - T[:, 0, 1], T[:, 0, 0] + T[:, 1, 1])[:, None]
    turns = [part for n in (1, 2, 4) for part in (torch.cos(n * turn), torch.sin(n * turn))]
    return [T[:, :3, 3], T_base_object[:, :3, 3], *turns]


def pose4(R: Tensor, p: Tensor) -> Tensor:
    """Return poses (n, 4, 4) from rotations (n, 3, 3) and positions (n, 3)."""
    last = torch.tensor([[[0.0, 0.0, 0.0, 1.0]]]).expand(len(R), 1, 4)
    return torch.cat([torch.cat([R, p[:, :, None]], 2), last], 1)


def matrix(seven: Tensor) -> Tensor:
    """Return poses (n, 4, 4) from positions and quaternions wxyz (n, 7)."""
    w, x, y, z = nn.functional.normalize(seven[:, 3:], dim=-1).unbind(-1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return pose4(torch.stack([torch.stack(row, -1) for row in rows], 1), seven[:, :3])


def inverse(T: Tensor) -> Tensor:
    """Return the inverses of poses (n, 4, 4)."""
    R = T[:, :3, :3].transpose(1, 2)
    return pose4(R, -(R @ T[:, :3, 3:])[:, :, 0])


def quaternion(R: Tensor) -> Tensor:
    """Return quaternions wxyz (n, 4) of rotations (n, 3, 3), from the largest of their four squares."""
    a, b, c = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    wx, wy, wz = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]
    xy, xz, yz = R[:, 1, 0] + R[:, 0, 1], R[:, 0, 2] + R[:, 2, 0], R[:, 2, 1] + R[:, 1, 2]
    rows = [
        torch.stack([1 + a + b + c, wx, wy, wz], -1),
        torch.stack([wx, 1 + a - b - c, xy, xz], -1),
        torch.stack([wy, xy, 1 - a + b - c, yz], -1),
        torch.stack([wz, xz, yz, 1 - a - b + c], -1),
    ]
    options = torch.stack(rows, 1)
    best = torch.diagonal(options, dim1=1, dim2=2).argmax(-1)
    return nn.functional.normalize(options[torch.arange(len(R)), best], dim=-1)


def export(weights: tyro.conf.Positional[Path], file: tyro.conf.Positional[Path]) -> None:
    """Write a policy as ONNX.

    Args:
        weights: Weights file written by train.py.
        file: The ONNX file.
    """
    trained = Trained(str(weights))
    config = trained.config
    if config.words:
        raise SystemExit(
            f"{weights} reads the words of the task, which an ONNX file cannot; evaluate the .pt file directly"
        )
    pose, size = torch.tensor([[0.4, 0.0, 0.4, 0.0, 1.0, 0.0, 0.0]]), config.size
    poses = pose.repeat(1, config.arms)
    given: dict[str, Tensor] = {STATE[0]: torch.zeros(1, trained.robot["state_size"]), STATE[1]: poses}
    given["noise"] = torch.zeros(1, CHUNK * config.step)
    if config.cameras:
        given |= {
            f"observation.images.{name}": torch.zeros(1, size, size, 3, dtype=torch.uint8) for name in config.cameras
        }
    else:
        # A separate tensor for each: the exporter would treat a shared one as the same input.
        given[WORLD] = poses.clone()
        given |= {f"observation.objects.{name}": pose.clone() for name in config.objects}
    network = Deployed(trained).eval()
    torch.onnx.export(
        network, tuple(given.values()), str(file), input_names=list(given), output_names=["action"], external_data=False
    )
    written = onnx.load(file)
    facts = {"actions": trained.actions, "frames_per_action": str(trained.frames_per_action)}
    onnx.helper.set_model_props(written, facts)
    onnx.save(written, file)


if __name__ == "__main__":
    tyro.cli(export)
