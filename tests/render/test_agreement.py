"""Backends show the same things in the same places: fifty random scenes, and a marker whose pixels are known."""

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.bench.render import build_scene, front_camera, hand_camera
from handloom.render import Renderer, camera_pose, probe_backends, project, unproject
from handloom.render.backends import BACKENDS
from handloom.render.textures import add_texture
from handloom.spatial import quat_from_matrix, random_quats
from handloom.values import CameraSpec

SCENES = 50
KINDS = ("box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh")
WEDGE = '<mesh name="wedge" vertex="-.08 -.06 -.03 .08 -.06 -.03 .08 .06 -.03 -.08 .06 -.03 0 -.06 .05 0 .06 .05"/>'
MARKER = 0.012


def random_scene(rng: np.random.Generator) -> tuple[mujoco.MjModel, mujoco.MjData, CameraSpec]:
    """A dozen shapes above a floor, a small marker nearer to the camera, and a camera with an off-centre axis.

    Rasterisers cut round shapes into facets; here into fine ones, so that depths can be compared.
    """
    geoms = [f'<geom name="marker" type="sphere" size="{MARKER}" pos="0 0 .55" rgba="1 1 0 1"/>']
    for kind in rng.choice(KINDS, 12):
        pose = f'pos="{_text(rng.uniform([-0.5, -0.5, 0.1], 0.45))}" quat="{_text(random_quats(rng, 1)[0])}"'
        shape = 'mesh="wedge"' if kind == "mesh" else f'size="{_text(rng.uniform(0.03, 0.1, 3))}"'
        geoms.append(f'<geom type="{kind}" {shape} {pose} rgba="{_text(rng.uniform(0, 1, 3))} 1"/>')
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset>{WEDGE}</asset><statistic extent="2"/><visual>
        <map znear=".01" zfar="20"/><quality numslices="128" numstacks="64"/></visual>
        <worldbody><light pos="0 0 2"/><geom type="plane" size="3 3 1"/>{"".join(geoms)}</worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    position = np.array([*rng.uniform(-1, 1, 2), rng.uniform(0.9, 1.4)])
    z = np.array([*rng.uniform(-0.1, 0.1, 2), 0.4]) - position
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    quat = quat_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    intrinsics = {"width": 224, "height": 168, "fx": 200.0, "fy": 196.0, "cx": 118.5, "cy": 80.25}
    camera = CameraSpec(name="eye", position=tuple(position), quat=tuple(quat), **intrinsics)
    return model, data, camera


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(f"{v:.6f}" for v in values)


def away_from_edges(ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Pixels whose eight neighbours show the same geom."""
    inner = np.zeros(ids.shape, bool)
    h, w = ids.shape
    around = [ids[1 + dy : h - 1 + dy, 1 + dx : w - 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    inner[1:-1, 1:-1] = np.all([a == around[4] for a in around], axis=0)
    return inner


def marker_error(
    model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec, ids: NDArray[np.int32]
) -> float | None:
    """Distance between the projected centre of the marker and the middle of its pixels [px]; None when covered."""
    mask = ids == model.geom("marker").id
    pixels, depths = project(camera, camera_pose(model, data, camera), data.geom("marker").xpos[None])
    if mask.sum() < 0.8 * np.pi * (MARKER * camera.fx / depths[0]) ** 2:
        return None
    y, x = np.nonzero(mask)
    return float(np.hypot(x.mean() + 0.5 - pixels[0, 0], y.mean() + 0.5 - pixels[0, 1]))


@pytest.mark.slow
@pytest.mark.gl
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cpu"])
def test_fifty_random_scenes_look_the_same_to_every_backend(backend):
    states = {state.name: state for state in probe_backends()}
    if not states[backend].works:
        pytest.skip(states[backend].reason)
    same, errors, markers = [], [], {"cpu": [], backend: []}
    for seed in range(SCENES):
        model, data, camera = random_scene(np.random.default_rng(seed))
        images = {
            name: Renderer(model, backend=name).render(data, [camera], ("depth", "segmentation"))["eye"]
            for name in ("cpu", backend)
        }
        ours, theirs = images["cpu"], images[backend]
        same.append((ours["segmentation"] == theirs["segmentation"]).mean())
        inner = away_from_edges(ours["segmentation"]) & away_from_edges(theirs["segmentation"])
        inner &= np.isfinite(ours["depth"]) & (ours["segmentation"] == theirs["segmentation"])
        errors.append(np.quantile(np.abs(ours["depth"][inner] - theirs["depth"][inner]), 0.999))
        for name, image in images.items():
            error = marker_error(model, data, camera, image["segmentation"])
            if error is not None:
                markers[name].append(error)
    figures = f"ids {np.mean(same):.5f} (least {np.min(same):.5f}), depth {np.max(errors) * 1e3:.3f} mm, markers "
    figures += ", ".join(f"{name} {max(values):.3f} px of {len(values)}" for name, values in markers.items())
    assert np.mean(same) > 0.995, figures
    assert np.max(errors) < 1e-3, figures
    assert all(len(values) > SCENES / 2 and max(values) < 0.5 for values in markers.values()), figures


def mesh_pictures(
    backend: str, kinds: tuple[str, ...], *, size: tuple[int, int] = (640, 480)
) -> tuple[mujoco.MjModel, list[tuple[mujoco.MjData, CameraSpec, dict[str, NDArray]]]]:
    """Twenty textured meshes of 10,000 triangles from the front and from the hand, in light that shows bare colours."""
    model, data = build_scene(objects=20, meshes=True)
    model.light_active[:] = 0
    model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 1, 0
    pictures = []
    for camera in (front_camera(*size), hand_camera(*size)):
        image = Renderer(model, "fast", backend=backend).render(data, [camera], kinds)[camera.name]
        pictures.append((data, camera, image))
    return model, pictures


@pytest.mark.gl
def test_textured_meshes_have_the_ids_depths_and_colours_of_the_classic_renderer():
    states = {state.name: state for state in probe_backends()}
    if not states["gl"].works:
        pytest.skip(states["gl"].reason)
    model, ours = mesh_pictures("cpu", ("albedo", "depth", "segmentation"))
    _, theirs = mesh_pictures("gl", ("rgb", "depth", "segmentation"))
    meshes = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)
    for (_, camera, cpu), (_, _, gl) in zip(ours, theirs, strict=True):
        shown = np.isin(cpu["segmentation"], meshes) | np.isin(gl["segmentation"], meshes)
        same = cpu["segmentation"] == gl["segmentation"]
        inner = away_from_edges(cpu["segmentation"]) & away_from_edges(gl["segmentation"]) & shown & same
        depth = np.abs(cpu["depth"] - gl["depth"])[inner]
        color = np.abs(cpu["albedo"].astype(int) - gl["rgb"])[inner].max(axis=-1)
        figures = f"{camera.name}: {shown.sum()} px, ids {same[shown].mean():.5f}, depth "
        figures += f"{1e3 * np.quantile(depth, 0.999):.4f} mm, colour {np.quantile(color, [0.5, 0.99])} of 255"
        assert shown.sum() > 5000, figures
        assert same[shown].mean() >= 0.999, figures
        assert np.quantile(depth, 0.999) < 5e-4, figures
        assert np.median(color) <= 4, figures
        assert np.quantile(color, 0.99) <= 16, figures


@pytest.mark.gl
@pytest.mark.parametrize("per_metre", [False, True])
def test_the_texture_of_a_mesh_repeats_as_in_the_classic_renderer(per_metre):
    states = {state.name: state for state in probe_backends()}
    if not states["gl"].works:
        pytest.skip(states["gl"].reason)
    ramp = np.linspace(0, 255, 64).astype(np.uint8)
    image = np.stack(
        [np.tile(ramp, (64, 1)), np.tile(ramp[:, None], (1, 64)), np.full((64, 64), 128, np.uint8)], axis=-1
    )
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [1, 1, 1], [0, 0, 0]
    spec.add_mesh(
        name="pyramid",
        uservert=[-0.1, -0.1, 0, 0.1, -0.1, 0, 0.1, 0.1, 0, -0.1, 0.1, 0, 0, 0, -0.05],
        userface=[0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0],
        usertexcoord=[0, 1, 1, 1, 1, 0, 0, 0, 0.5, 0.5],
    )
    material = add_texture(spec, "ramp", image, repeat=(2.0, 3.0), per_metre=per_metre)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="pyramid", material=material)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = CameraSpec.looking_at("eye", (0, 0, 0), eye=(0, -0.001, 0.5), width=120, height=120, focal=240)
    ours = Renderer(model).render(data, [camera], ("albedo",))["eye"]["albedo"].astype(int)
    theirs = Renderer(model, "fast", backend="gl").render(data, [camera])["eye"]["rgb"]
    apart = np.abs(ours - theirs)[20:100, 20:100].max(axis=-1)
    assert np.quantile(apart, 0.9) <= 3, np.quantile(apart, [0.5, 0.9, 0.99])


def test_meshes_are_hit_where_mujoco_casts_its_rays():
    model, pictures = mesh_pictures("cpu", ("depth", "segmentation"), size=(160, 120))
    meshes = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    for data, camera, image in pictures:
        ids = image["segmentation"]
        rows, columns = np.nonzero(np.isin(ids, meshes) & away_from_edges(ids))
        T_world_camera = camera_pose(model, data, camera)
        points = unproject(camera, T_world_camera, image["depth"])[rows, columns] - T_world_camera[:3, 3]
        hit, errors = np.zeros(1, np.int32), []
        for pixel, (point, row, column) in enumerate(zip(points, rows, columns, strict=True)):
            length = float(np.linalg.norm(point))
            distance = mujoco.mj_ray(model, data, T_world_camera[:3, 3], point / length, groups, 1, -1, hit)
            assert hit[0] == ids[row, column], f"{camera.name}, pixel {pixel} ({column}, {row})"
            errors.append(abs(distance - length))
        assert len(errors) > 100
        assert max(errors) < 5e-5, f"{camera.name}: {1e3 * max(errors):.4f} mm"
