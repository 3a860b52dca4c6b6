"""In, on, beside and upright mean what people mean by them."""

import numpy as np
import pytest
from tests.judging.conftest import Make, put
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import oracle_of

from handloom.judging.checks import holds
from handloom.judging.relations import relation_terms
from handloom.scene.measures import world_box
from handloom.spatial import matrix_from_quat, quat_from_matrix
from handloom.values import Check

SIDEWAYS = (0.70710678, 0.70710678, 0.0, 0.0)


def is_in(scene, name: str, target: str, part: str | None = None) -> bool:
    return holds(scene, Check(name="in_cavity", arguments={"object": name, "target": target, "part": part}))


def is_on(scene, name: str, target: str) -> bool:
    return holds(scene, Check(name="carried_by", arguments={"object": name, "target": target}))


def over(scene, target: str, above: float, shift=(0.0, 0.0)) -> np.ndarray:
    box = world_box(scene, target)
    middle = box.mean(axis=0)
    return np.array([middle[0] + shift[0], middle[1] + shift[1], box[1, 2] + above])


@pytest.mark.parametrize("thing", ["strawberry", "egg"])
def test_what_lies_on_the_thick_floor_of_a_shallow_dish_and_rises_above_its_wall_is_in_it(table: Make, thing: str):
    scene = table(thing=f"category: {thing}", dish="category: petri_dish")
    put(scene, "thing", over(scene, "dish", 0.012), settle=1.5)
    assert world_box(scene, "thing")[1, 2] > world_box(scene, "dish")[1, 2] + 0.01
    assert is_in(scene, "thing", "dish")


def test_a_spoon_across_a_glass_and_the_rim_of_the_bin_around_it_is_not_in_the_bin(table: Make):
    scene = table(
        spoon="category: spoon, parameters: {length: 0.1716}",
        glass="category: glass, parameters: {radius: 0.0322, height: 0.0918, flare: 0.0011}",
        bin="category: bin, parameters: {length: 0.247, width: 0.1629, height: 0.1008}",
    )
    # Poses recorded in an attempt.
    put(scene, "bin", (0.1594, 0.0168, 0.8002), (0.9594, 0.0001, -0.0001, -0.282))
    put(scene, "glass", (0.1377, 0.0078, 0.8005), (0.7573, 0.0013, -0.001, -0.6531))
    put(scene, "spoon", (0.1788, 0.0334, 0.8536), (0.2095, 0.0176, 0.0169, -0.9775), settle=0.5)
    assert world_box(scene, "spoon")[0, 2] > world_box(scene, "bin")[1, 2] - 0.02, "it lies at the height of the rim"
    assert not is_in(scene, "spoon", "bin")


@pytest.mark.parametrize("container", ["bowl", "bin", "basket", "tray", "crate", "frying_pan", "plate"])
def test_a_thing_dropped_into_a_container_is_in_it_and_beside_it_is_not(table: Make, container: str):
    scene = table(cube="category: cube, parameters: {edge: 0.03}", box=f"category: {container}")
    inner = -0.02 if container == "frying_pan" else 0.0
    put(scene, "cube", over(scene, "box", 0.02, (inner, 0.0)), settle=1.0)
    assert is_in(scene, "cube", "box")
    box = world_box(scene, "box")
    put(scene, "cube", (box[0, 0] - 0.03, box.mean(axis=0)[1], 0.77), settle=0.5)
    assert not is_in(scene, "cube", "box")


def test_on_the_roof_of_a_microwave_or_a_cabinet_is_not_in_it(table: Make):
    for category in ("microwave", "drawer_cabinet", "fridge", "shelf"):
        keys = "fix_base: true, target_class: ArticulatedObject" if category != "shelf" else ""
        scene = table(lemon="category: lemon", house=f"category: {category}{', ' + keys if keys else ''}")
        put(scene, "lemon", over(scene, "house", 0.03), settle=1.0)
        assert is_on(scene, "lemon", "house"), category
        assert not is_in(scene, "lemon", "house"), category


def test_in_a_microwave_is_in_it_with_its_door_open_or_shut(table: Make):
    scene = table(
        cube="category: cube, parameters: {edge: 0.04}",
        oven="category: microwave, fix_base: true, target_class: ArticulatedObject",
    )
    for door in (0.0, 1.2):
        scene.world.data.qpos[scene.world.qpos_index("oven/door_joint")] = door
        box = world_box(scene, "oven", "object")
        put(scene, "cube", box.mean(axis=0) + np.array([-0.03, 0.05, 0.0]), settle=1.0)
        assert is_in(scene, "cube", "oven")
        put(scene, "cube", (box.mean(axis=0)[0], box[0, 1] - 0.06, 0.78), settle=0.5)
        assert not is_in(scene, "cube", "oven"), "before its door"


def test_each_drawer_is_a_place_of_its_own(table: Make):
    scene = table(
        cube="category: cube, parameters: {edge: 0.03}",
        cabinet="category: drawer_cabinet, fix_base: true, target_class: ArticulatedObject, parameters: {drawers: 2}",
    )
    names = [link.name for link in scene.assets["cabinet"].joints]
    link = scene.assets["cabinet"].joints[0]
    scene.world.data.qpos[scene.world.qpos_index(f"cabinet/{link.joint}")] = 0.7 * link.range[1]
    box = world_box(scene, "cabinet", link.name)
    put(scene, "cube", (box.mean(axis=0)[0], box[0, 1] + 0.05, box[1, 2] + 0.02), settle=1.0)
    assert is_in(scene, "cube", "cabinet")
    assert is_in(scene, "cube", "cabinet", link.name)
    assert not is_in(scene, "cube", "cabinet", next(name for name in names if name != link.name))


def test_under_an_open_drawer_is_not_in_the_cabinet(table: Make):
    scene = table(
        cube="category: cube, parameters: {edge: 0.03}",
        cabinet="category: drawer_cabinet, fix_base: true, target_class: ArticulatedObject, parameters: {drawers: 2}",
    )
    link = max(scene.assets["cabinet"].joints, key=lambda link: world_box(scene, "cabinet", link.name)[0, 2])
    scene.world.data.qpos[scene.world.qpos_index(f"cabinet/{link.joint}")] = 0.7 * link.range[1]
    box = world_box(scene, "cabinet", link.name)
    put(scene, "cube", (box.mean(axis=0)[0], box[0, 1] + 0.05, 0.775), settle=0.5)
    assert not is_in(scene, "cube", "cabinet")


def test_what_hangs_over_the_edge_of_a_tray_or_leans_on_it_is_not_on_it(table: Make):
    scene = table(book="category: book", tray="category: cutting_board")
    put(scene, "book", over(scene, "tray", 0.05), settle=1.0)
    assert is_on(scene, "book", "tray")
    box, own = world_box(scene, "tray"), world_box(scene, "book")
    half = (own[1, 0] - own[0, 0]) / 2.0
    put(scene, "book", (box[0, 0] - 0.7 * half, box.mean(axis=0)[1], box[1, 2] + 0.02), settle=1.5)
    assert not is_on(scene, "book", "tray")


def test_a_second_egg_on_the_first_is_still_in_the_bowl_and_on_it(table: Make):
    cube = "category: cube, parameters: {edge: 0.03}"
    scene = table(one=cube, two=cube, tray="category: bin")
    put(scene, "one", over(scene, "tray", -0.05), settle=1.0)
    put(scene, "two", over(scene, "tray", 0.0), settle=1.0)
    assert is_in(scene, "two", "tray")
    assert is_on(scene, "two", "tray")


def test_a_mug_must_stand_and_a_banana_may_lie(table: Make):
    scene = table(mug="category: mug", banana="category: banana", tray="category: cutting_board")
    terms = {name: relation_terms(scene, name, "on", "tray") for name in ("mug", "banana")}
    assert [term.name for term in terms["mug"]] == ["carried_by", "points_up", "let_go"]
    assert [term.name for term in terms["banana"]] == ["carried_by", "let_go"]
    assert [term.name for term in relation_terms(scene, "mug", "on", "tray", upright=False)] == ["carried_by", "let_go"]
    put(scene, "mug", over(scene, "tray", 0.06), settle=1.0)
    assert all(holds(scene, term) for term in terms["mug"])
    put(scene, "mug", over(scene, "tray", 0.06), SIDEWAYS, settle=1.0)
    assert not all(holds(scene, term) for term in terms["mug"])


def test_a_mug_that_lies_at_the_start_must_stand_at_the_end(table: Make):
    scene = table(mug="category: mug, euler: [90, 0, 0]", tray="category: cutting_board")
    terms = relation_terms(scene, "mug", "on", "tray")
    assert [term.name for term in terms] == ["carried_by", "points_up", "let_go"]
    put(scene, "mug", over(scene, "tray", 0.06), SIDEWAYS, settle=1.0)
    assert [term.name for term in terms if not holds(scene, term)] == ["points_up"]


def test_beside_is_neither_on_nor_far_away(table: Make):
    scene = table(cube="category: cube, parameters: {edge: 0.04}", plate="category: plate")
    box = world_box(scene, "plate")

    def beside(**more) -> bool:
        about = {"object": "cube", "target": "plate", "within": 0.1, **more}
        return holds(scene, Check(name="next_to", arguments=about))

    put(scene, "cube", (box[1, 0] + 0.05, box.mean(axis=0)[1], 0.78), settle=0.5)
    assert beside()
    assert beside(side="right")
    assert not beside(side="left")
    put(scene, "cube", over(scene, "plate", 0.03), settle=0.5)
    assert not beside()
    put(scene, "cube", (box[1, 0] + 0.25, box.mean(axis=0)[1], 0.78), settle=0.5)
    assert not beside()


def test_a_cucumber_across_a_small_bowl_is_not_in_it_and_a_short_one_on_its_floor_is(table: Make):
    small = "category: bowl, parameters: {radius: 0.056}"
    scene = table(cucumber="category: cucumber", bowl=small)
    rim = world_box(scene, "bowl")[1, 2]
    half = float(np.diff(world_box(scene, "cucumber")[:, 2])[0]) / 2.0
    for dip in (0.002, 0.005):
        put(scene, "cucumber", (*world_box(scene, "bowl").mean(axis=0)[:2], rim + half - dip))
        assert not is_in(scene, "cucumber", "bowl"), dip
    scene = table(egg="category: egg", bowl=small)
    put(scene, "egg", over(scene, "bowl", 0.02), settle=2.0)
    assert is_in(scene, "egg", "bowl")


LENGTHWISE = "category: banana, parameters: {length: 0.1558, width: 0.0339, bend: 95.4}"
SHORT_TRAY = "category: cardboard_tray, parameters: {length: 0.227, width: 0.1529, height: 0.0808}"
WEDGED = "category: cucumber, parameters: {length: 0.1818, width: 0.0362}"
NARROW = "category: basket, parameters: {radius: 0.0885, height: 0.0823}"
SAGGING = "category: banana, parameters: {length: 0.1608, width: 0.0302, bend: 70.5}"
HANDLED = "category: basket, parameters: {radius: 0.0931, height: 0.0812}"
PAN = "category: frying_pan, parameters: {radius: 0.0931, height: 0.0325, handle: 0.1307}"
TUBE = "category: test_tube, parameters: {style: stoppered, radius: 0.008, height: 0.12}"
RACK = "category: test_tube_rack, parameters: {columns: 3, pitch: 0.032, height: 0.065}"


@pytest.mark.parametrize(
    ("thing", "box", "place", "quat", "right"),
    [
        (LENGTHWISE, SHORT_TRAY, (-0.0261, 0.0023, 0.0406), (0.5005, 0.4001, -0.4974, -0.5848), False),
        (WEDGED, NARROW, (-0.0264, -0.0014, -0.0293), (0.2504, 0.6233, 0.6751, 0.3051), True),
        (SAGGING, HANDLED, (-0.0506, 0.0306, 0.0315), (0.8435, 0.2332, -0.1456, 0.4615), False),
        (SAGGING, PAN, (-0.0292, -0.0284, 0.0175), (0.2713, 0.0205, 0.6587, 0.7015), True),
        (TUBE, RACK, (-0.0024, -0.0133, 0.0379), (0.9894, -0.0346, -0.0227, -0.1393), True),
    ],
    ids=[
        "a banana across two rims",
        "a cucumber wedged between steep walls",
        "a banana that sags between rim and handle",
        "a banana on the floor of a pan, leaning on its rim",
        "a tube that stands on the floor of a rack, whose walls have holes",
    ],
)
def test_judge_and_oracle_agree_on_what_a_rim_bears_and_on_what_walls_hold(table: Make, thing, box, place, quat, right):
    scene = table(thing=thing, box=box)
    T = scene.object_pose("box")
    put(scene, "thing", T[:3, :3] @ np.array(place) + T[:3, 3], quat_from_matrix(T[:3, :3] @ matrix_from_quat(quat)))
    scene.world.step(round(1.0 / scene.world.timestep))
    assert is_in(scene, "thing", "box") is right
    verdict = oracle_of(scene, scene.world.save_state()).judge([Deed(kind="in", obj="thing", target="box")])
    assert verdict.done is right, verdict.why


def test_a_cucumber_across_the_grip_of_a_chopping_board_is_not_on_the_board(table: Make):
    keys = "parameters: {length: 0.28, width: 0.18, height: 0.016, style: plain}"
    scene = table(cucumber="category: cucumber", board=f"category: cutting_board, {keys}")
    T = scene.object_pose("board")
    across = quat_from_matrix(T[:3, :3] @ matrix_from_quat((0.70710678, 0.0, 0.0, 0.70710678)))
    for along, on in ((0.17, False), (0.0, True)):
        middle = T[:3, 3] + T[:3, 0] * along
        top = world_box(scene, "board")[1, 2]
        put(scene, "cucumber", np.array([*middle[:2], top + 0.025]), across, settle=1.0)
        assert scene.world.touching(["cucumber/object"], ["board/object"])
        assert is_on(scene, "cucumber", "board") is on


def test_what_was_dropped_through_the_thin_floor_of_a_tray_is_not_in_it_nor_on_it(table: Make):
    scene = table(cube="category: cube, parameters: {edge: 0.04}", tray="category: tray")
    put(scene, "cube", over(scene, "tray", 0.01), settle=1.0)
    assert is_in(scene, "cube", "tray")
    lower = scene.object_pose("cube")
    put(scene, "cube", lower[:3, 3] - np.array([0.0, 0.0, 0.006]), quat_from_matrix(lower[:3, :3]))
    assert not is_in(scene, "cube", "tray")
    assert not is_on(scene, "cube", "tray")
