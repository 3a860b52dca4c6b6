"""Every shape, from every side, against MuJoCo's own ray casting."""

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer
from handloom.spatial import quat_from_matrix, random_directions, random_quats
from handloom.values import CameraSpec

# Outline of a star: not convex, with flat caps.
STAR = [(r * np.cos(a), r * np.sin(a)) for a, r in zip(np.arange(10) * np.pi / 5, [0.1, 0.05] * 5, strict=True)]


def star_mesh() -> str:
    """A prism over a star, as vertices and triangles."""
    vertices = [(x, y, z) for z in (-0.04, 0.04) for x, y in STAR] + [(0, 0, -0.04), (0, 0, 0.04)]
    faces = []
    for k in range(10):
        m = (k + 1) % 10
        faces += [(k, m, 10 + m), (k, 10 + m, 10 + k), (20, m, k), (21, 10 + k, 10 + m)]
    numbers = " ".join(f"{v:.6f}" for vertex in vertices for v in vertex)
    return f'<mesh name="star" vertex="{numbers}" face="{" ".join(str(i) for f in faces for i in f)}"/>'


ASSETS = f"""<asset>{star_mesh()}
  <mesh name="hull" vertex="-.1 -.07 -.05 .1 -.07 -.05 .08 .07 -.05 -.08 .07 -.05 0 0 .12 .03 0 .1"/>
  <hfield name="hills" nrow="7" ncol="9" size=".2 .15 .08 .03"
    elevation="0 .1 .3 .2 .1 0 .2 .4 .1 .2 .5 .9 .3 .1 .2 .4 .3 0 .1 .4 .6 1 .8 .3 .2 .1 0 .3 .2 .4 .6 .5 .2 .3 .2 .1
      0 .1 .2 .3 .4 .6 .5 .1 0 .2 .1 .3 .2 .1 .4 .2 .1 0 0 .1 .1 .2 .1 .3 .1 0 0"/>
</asset>"""

SHAPES = {
    "box": 'type="box" size=".1 .06 .04"',
    "thin box": 'type="box" size=".1 .06 .0001"',
    "sphere": 'type="sphere" size=".08"',
    "tiny sphere": 'type="sphere" size=".002"',
    "capsule": 'type="capsule" size=".04 .09"',
    "stubby capsule": 'type="capsule" size=".08 .0005"',
    "needle": 'type="capsule" size=".001 .2"',
    "cylinder": 'type="cylinder" size=".06 .08"',
    "disc": 'type="cylinder" size=".1 .0002"',
    "ellipsoid": 'type="ellipsoid" size=".1 .05 .03"',
    "flat ellipsoid": 'type="ellipsoid" size=".1 .08 .001"',
    "plane": 'type="plane" size=".12 .08 .1"',
    "endless plane": 'type="plane" size="0 0 .1"',
    "convex mesh": 'type="mesh" mesh="hull"',
    "star mesh": 'type="mesh" mesh="star"',
    "height field": 'type="hfield" hfield="hills"',
}


def look_at(rng: np.random.Generator, distance: float, name: str) -> CameraSpec:
    """A camera at random around the origin, looking near it."""
    direction = random_directions(rng, 1)[0]
    z = -direction
    x = np.cross(z, [0.3, 0.2, 0.9])
    x /= np.linalg.norm(x)
    quat = quat_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    position = direction * distance + rng.uniform(-0.02, 0.02, 3)
    return CameraSpec(
        name=name,
        width=120,
        height=90,
        fx=130.0,
        fy=128.0,
        cx=57.0,
        cy=46.0,
        near=1e-4,
        position=tuple(position.tolist()),
        quat=tuple(quat.tolist()),
    )


def compare(model, data, cameras, cast_reference) -> tuple[float, float]:
    """Return the share of equal geom ids and the largest depth difference among them [m].

    Depths count up to 10 m, the range of the cameras simulated; towards the horizon of an endless plane a float32 ray
    cannot tell 100 m from 101 m.
    """
    images = Renderer(model).render(data, cameras, ("depth", "segmentation"))
    equal, worst = [], 0.0
    for camera in cameras:
        ids, depth = cast_reference(model, data, camera)
        same = images[camera.name]["segmentation"] == ids
        equal.append(same.mean())
        hit = same & (depth < 10.0)
        if hit.any():
            worst = max(worst, float(np.abs(images[camera.name]["depth"][hit] - depth[hit]).max()))
    return float(np.mean(equal)), worst


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_looks_as_in_mujocos_ray_casting_from_all_sides(name, cast_reference):
    rng = np.random.default_rng(3)
    quat = " ".join(f"{v:.6f}" for v in random_quats(rng, 1)[0])
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{ASSETS}<worldbody><geom {SHAPES[name]} quat="{quat}"/></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    cameras = [look_at(rng, distance, f"c{k}") for k, distance in enumerate([0.3, 0.4, 0.6, 0.9, 1.5] * 2)]
    equal, worst = compare(model, data, cameras, cast_reference)
    assert equal >= 0.9999
    assert worst < 1e-4


@pytest.mark.parametrize("name", ["box", "sphere", "capsule", "cylinder", "ellipsoid", "convex mesh", "star mesh"])
def test_a_camera_inside_a_shape_sees_its_inner_wall(name, cast_reference):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{ASSETS}<worldbody><body name="b"><joint/><geom {SHAPES[name]}/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng = np.random.default_rng(4)
    cameras = [look_at(rng, 0.003, f"c{k}") for k in range(4)]
    equal, worst = compare(model, data, cameras, cast_reference)
    assert equal >= 0.9999
    assert worst < 1e-4


def test_a_camera_inside_its_own_housing_sees_out():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="wall" type="box" size=".01 1 1" pos="1 0 0"/>
        <body name="hand"><joint/><geom name="housing" type="box" size=".05 .05 .05"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    quat = tuple(quat_from_matrix(np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0.0]])).tolist())
    view = {"width": 40, "height": 30, "fx": 40.0, "fy": 40.0, "cx": 20.0, "cy": 15.0, "quat": quat}
    own = CameraSpec(name="own", parent="hand", **view)
    stranger = CameraSpec(name="stranger", **view)
    images = Renderer(model).render(data, [own, stranger], ("segmentation",))
    assert np.all(images["own"]["segmentation"] == model.geom("wall").id)
    assert np.all(images["stranger"]["segmentation"] == model.geom("housing").id)


def test_random_scenes_of_all_shapes_agree(cast_reference):
    rng = np.random.default_rng(5)
    names = [name for name in SHAPES if "plane" not in name]
    equal, worst = [], 0.0
    for _ in range(4):
        geoms = "".join(
            f'<geom {SHAPES[rng.choice(names)]} pos="{" ".join(map(str, rng.uniform(-0.4, 0.4, 3)))}" '
            f'quat="{" ".join(map(str, random_quats(rng, 1)[0]))}"/>'
            for _ in range(25)
        )
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco>{ASSETS}<worldbody><geom type="plane" size="0 0 1" pos="0 0 -.6"/>{geoms}</worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        share, difference = compare(model, data, [look_at(rng, 1.2, f"c{k}") for k in range(3)], cast_reference)
        equal.append(share)
        worst = max(worst, difference)
    assert np.mean(equal) >= 0.9999
    assert worst < 1e-4


def test_a_camera_among_shapes_that_reach_past_it_sees_them_as_mujocos_ray_casting_does(cast_reference):
    rng = np.random.default_rng(7)
    # A height field is its surface to us, and a solid block below it to MuJoCo when the camera is inside.
    names = [name for name in SHAPES if "plane" not in name and name != "height field"]
    geoms = "".join(
        f'<geom {SHAPES[name]} pos="{" ".join(map(str, rng.uniform(-0.12, 0.12, 3)))}" '
        f'quat="{" ".join(map(str, random_quats(rng, 1)[0]))}"/>'
        for name in names
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{ASSETS}<worldbody><body><joint/><geom size=".01"/>{geoms}</body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    cameras = [look_at(rng, distance, f"c{k}") for k, distance in enumerate([0.05, 0.1, 0.15, 0.2] * 5)]
    equal, worst = compare(model, data, cameras, cast_reference)
    assert equal >= 0.9999
    assert worst < 1e-4


def test_glass_lets_what_is_behind_it_shine_through():
    def picture(alpha: float) -> np.ndarray:
        model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><worldbody><light pos="0 0 3" dir="0 0 -1" castshadow="false"/>
            <geom type="plane" size="1 1 1" rgba=".9 .1 .1 1"/>
            <geom type="box" size=".2 .2 .02" pos="0 0 .5" rgba=".1 .1 .9 {alpha}"/></worldbody></mujoco>"""
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        camera = CameraSpec.centred("c", 32, 32, 60.0, position=(0.0, 0.0, 2.0), quat=(0.0, 1.0, 0.0, 0.0))
        return Renderer(model).render(data, [camera])["c"]["rgb"][16, 16].astype(float)

    solid, half, thin = picture(1.0), picture(0.5), picture(0.1)
    assert solid[2] > solid[0]
    assert thin[0] > half[0] > solid[0]
    assert thin[2] < half[2] < solid[2]
