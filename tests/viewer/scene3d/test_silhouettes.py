"""The 3D view agrees with the ray caster: from the same camera, every outline lies within 2 px, on 20 scenes."""

import base64
import json
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("uvicorn")

from silhouettes import outline_distance

from browser import PROGRAM, Browser
from handloom.engine.attempt import Stopwatch, simulate
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.viewer.library import Library
from handloom.viewer.scene3d.recorded_motion import camera_entry
from handloom.viewer.scene3d.scene_geometry import scene_geometry
from handloom.viewer.view_app import ViewOptions, view_server

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium")]

CLOSEST = 2
"""How far outlines may be apart [px]."""
SEED = 41
TASKS = (
    *("fr3_pick_place", "fr3_stack_bowls", "fr3_open_drawer", "fr3_close_laptop", "fr3_pour_cup_bowl"),
    *("fr3_put_in_drawer", "fr3_water_plant", "fr3_close_microwave", "fr3_flip_carton", "fr3_belt_pick_place"),
    *("franka_robotiq85_arrange_tableware", "franka_robotiq85_insert_tube", "genie1_open_drawer", "genie1_pick_place"),
    *("lift2_carry_tray", "lift2_fetch_carton", "so101_recovery_pick", "split_aloha_fetch_can"),
    *("split_aloha_tidy_shelf", "fr3_suction_unload_pallet"),
)
SEEN = """async (content, cameras) => {
  const { SceneView } = await import("/scene3d/view.js");
  window.sceneView ??= new SceneView(document.getElementById("main"));
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  await sceneView.load(bytes.buffer);
  return cameras.map((camera) => {
    const ids = new Uint8Array(sceneView.geomsSeenBy(camera).buffer);
    let text = "";
    for (let k = 0; k < ids.length; k += 8192) text += String.fromCharCode(...ids.subarray(k, k + 8192));
    return btoa(text);
  });
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    server = view_server(Library([], ["fr3_pick_place"]), ViewOptions())
    server.start()
    with Browser(size=(400, 300)) as browser:
        browser.open(server.address.split("?")[0] + "theme.css")  # Of the same origin, and without a page of its own.
        browser.run("document.body.replaceChildren(Object.assign(document.createElement('main'), { id: 'main' }))")
        yield browser
        assert [error for error in browser.errors if "favicon" not in error] == []
    server.close()


def differences(page: Browser, scene: Scene) -> dict[str, dict[str, int]]:
    """Return, by camera and body, how far outlines of the view and of the ray caster are apart [px]."""
    model, cameras = scene.world.model, scene.instance.cameras
    content = base64.b64encode(scene_geometry(scene)).decode()
    entries = [camera_entry(model, camera) for camera in cameras]
    answers = page.run(f"({SEEN})({json.dumps(content)}, {json.dumps(entries)})")
    drawn = Renderer(model, "fast", looks=scene.looks).render(scene.world.data, cameras, ("segmentation",))
    root = np.append(model.body_rootid[model.geom_bodyid], -1)
    found = {}
    for camera, answer in zip(cameras, answers, strict=True):
        view = np.frombuffer(base64.b64decode(answer), np.int32).reshape(camera.height, camera.width)
        cast = np.asarray(drawn[camera.name]["segmentation"], np.int32)
        apart = outline_distance(root[view], root[cast])
        found[camera.name] = {model.body(k).name if k >= 0 else "sky": value for k, value in apart.items()}
    return found


@pytest.mark.parametrize(("number", "task"), list(enumerate(TASKS)), ids=TASKS)
def test_outlines_agree_with_the_ray_caster(page: Browser, number: int, task: str) -> None:
    scene = build_scene(sample_task(load_task(task), SEED, number))
    for camera, apart in differences(page, scene).items():
        assert max(apart.values()) <= CLOSEST, (camera, {k: v for k, v in apart.items() if v > CLOSEST})


def test_outlines_agree_in_the_middle_of_an_episode(page: Browser) -> None:
    scene, record = simulate(load_task("fr3_pick_place"), SEED, 0, Stopwatch())
    scene.world.restore_state(record.states[record.frames // 2])
    for camera, apart in differences(page, scene).items():
        assert max(apart.values()) <= CLOSEST, (camera, apart)
