"""Reads the sentences back and asks the world whether they are true, without the code that wrote them."""

import re

import mujoco
import numpy as np

from handloom.objects.materials import SPOKEN

SIDES = {"left of": (1, 1), "right of": (1, -1), "behind": (0, 1), "in front of": (0, -1)}
EXTREMES = {"largest": "size", "smallest": "size", "leftmost": 1, "rightmost": 1, "nearest": 0, "farthest": 0}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SUPPORTS = ("table", "shelf", "counter", "conveyor", "pallet", "stand", "turntable")


class World:
    """Objects of a scene in its present state, by what a person sees and a physicist measures."""

    def __init__(self, scene) -> None:
        self.scene = scene
        model, data = scene.world.model, scene.world.data
        mujoco.mj_forward(model, data)
        robot = scene.instance.robots[0]
        R, p = np.zeros(9), np.array(robot.position)
        mujoco.mju_quat2Mat(R, np.array(robot.quat))
        self.R = R.reshape(3, 3)
        self.objects = {}
        for obj in scene.instance.objects:
            asset = scene.assets[obj.name]
            corners = _corners(model, data, scene.world.body_index(f"{obj.name}/object"))
            if asset.category == "plane" or corners is None:
                continue
            body = scene.world.body_index(f"{obj.name}/object")
            own = (corners - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
            middle = (own.min(axis=0) + own.max(axis=0)) / 2 @ data.xmat[body].reshape(3, 3).T + data.xpos[body]
            self.objects[obj.name] = {
                "nouns": [noun.replace("_", " ") for noun in asset.synonyms],
                "color": "" if obj.look or not asset.color else SPOKEN.get(asset.color, asset.color),
                "center": (middle - p) @ self.R,
                "world": middle,
                "own": (own.min(axis=0), own.max(axis=0), body),
                "size": float(np.linalg.norm(np.ptp(own, axis=0))),
                "support": asset.category in SUPPORTS,
                "container": asset.holds > 0 or asset.articulated,
            }
        self.carried = set()
        for k in range(data.ncon):
            contact = data.contact[k]
            names = [model.body(int(model.geom_bodyid[g])).name.partition("/")[0] for g in contact.geom]
            if contact.dist <= 1e-3 and abs(contact.frame[2]) >= 0.7:
                above = names[1] if contact.frame[2] > 0 else names[0]
                below = names[0] if contact.frame[2] > 0 else names[1]
                self.carried.add((above, below))

    def is_in(self, a, b):
        thing = self.objects[b]
        low, high, body = thing["own"]
        data = self.scene.world.data
        local = (self.objects[a]["world"] - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
        return a != b and thing["container"] and bool(np.all(local > low) and np.all(local < high))

    def is_on(self, a, b):
        return (a, b) in self.carried and not self.is_in(a, b)

    def holds(self, a, relation, b):
        if relation == "on":
            return self.is_on(a, b)
        if relation == "in":
            return self.is_in(a, b)
        axis, sign = SIDES[relation]
        if self.objects[a]["support"] or self.objects[b]["support"] or a == b:
            return False
        if any(test(*pair) for test in (self.is_in, self.is_on) for pair in ((a, b), (b, a))):
            return False
        step = self.objects[a]["center"] - self.objects[b]["center"]
        other = 1 - axis
        wide = abs(step[axis]) >= abs(step[other]) if axis == 1 else abs(step[axis]) > abs(step[other])
        return bool(sign * step[axis] > 0.03 and wide)

    def meant(self, phrase: str) -> list[str]:
        """Return the objects that a phrase may mean."""
        phrase = phrase.removeprefix("the ")
        from_left = phrase.endswith(" from the left")
        phrase = phrase.removesuffix(" from the left")
        relation = landmark = None
        for word in ("left of", "right of", "in front of", "behind", "on", "in"):
            if f" {word} the " in phrase:
                phrase, _, landmark = phrase.partition(f" {word} ")
                relation = word
                break
        words = phrase.split()
        extreme = words.pop(0) if words[0] in EXTREMES else None
        place = ORDINALS.index(words.pop(0)) if from_left else None
        rest = " ".join(words)
        found = [
            name
            for name, thing in self.objects.items()
            if any(rest in (noun, f"{thing['color']} {noun}".strip()) for noun in thing["nouns"])
        ]
        if relation:
            marks = self.meant(landmark)
            found = [name for name in found if any(self.holds(name, relation, mark) for mark in marks)]
        if extreme:
            key = EXTREMES[extreme]
            value = (lambda n: self.objects[n]["size"]) if key == "size" else (lambda n: self.objects[n]["center"][key])
            largest = extreme in ("largest", "leftmost", "farthest")
            order = sorted(found, key=value, reverse=largest)
            found = order[:1]
        if place is not None:
            found = sorted(found, key=lambda n: -self.objects[n]["center"][1])[place : place + 1]
        return found


def _corners(model, data, root):
    """Return the corners of what cameras see of an object, by MuJoCo's own meshes and sizes."""
    inside, points = {root}, []
    for body in range(root, model.nbody):
        if body != root and int(model.body_parentid[body]) not in inside:
            continue
        inside.add(body)
        for geom in np.flatnonzero(model.geom_bodyid == body):
            material = model.geom_matid[geom]
            alpha = model.geom_rgba[geom, 3] if material < 0 else max(model.mat_rgba[material, 3], 0)
            if model.geom_group[geom] > 2 or alpha == 0 or model.geom_type[geom] in (0, 1):
                continue
            points.append(_points(model, geom) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(points) if points else None


def _points(model, geom):
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        return model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 96), np.linspace(0, np.pi, 49))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], -1).reshape(-1, 3)
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return ball * size
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return ball * size[0]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.concatenate([ball * size[0] + [0, 0, s * size[1]] for s in (-1, 1)])
    return np.concatenate([ball * [1, 1, 0] * size[0] + [0, 0, s * size[1]] for s in (-1, 1)])


def faults_of_scene(world: World, words: dict) -> tuple[int, list[str]]:
    """Check references and relations of the first frame; return how many there are and which are wrong."""
    faults, count = [], 0
    for name, phrase in words["references"].items():
        if phrase is not None:
            count += 1
            if world.meant(phrase) != [name]:
                faults.append(f"{phrase!r} is to mean {name}, fits {world.meant(phrase)}")
    told = set()
    for row in words["relations"]["first"]:
        if row["object"]:
            count += 1
            told.add((row["subject"], row["relation"], row["object"]))
            if not world.holds(row["subject"], row["relation"], row["object"]):
                faults.append(row["text"])
    for a in world.objects:
        for b in world.objects:
            for relation in (*SIDES, "on", "in"):
                if world.holds(a, relation, b) and (a, relation, b) not in told:
                    faults.append(f"{a} is {relation} {b} is true and not said")
    return count, faults


def answer(world: World, asked: dict) -> str | None:  # noqa: PLR0911 - one line per kind of question
    """Answer a question about a scene from its text; None for one about the deed."""
    text = asked["question"].rstrip("?")
    things = world.objects
    if match := re.fullmatch(r"How many (.+) things are there", text):
        return str(sum(thing["color"] == match[1] for thing in things.values()))
    if re.fullmatch(r"How many (.+) are there", text):
        return str(sum(asked["about"][0] in thing["nouns"] for thing in things.values()))
    if match := re.fullmatch(r"What colour is (.+)", text):
        (name,) = world.meant(match[1])
        return things[name]["color"]
    if match := re.fullmatch(r"How many things are on (.+)", text):
        (name,) = world.meant(match[1])
        return str(sum(world.is_on(other, name) for other in things if not things[other]["support"]))
    if match := re.fullmatch(r"Is (the .+?) (left of|right of|behind|in front of|on|in) (the .+)", text):
        for cut in re.finditer(r" (left of|right of|behind|in front of|on|in) (?=the )", text):
            first, second = world.meant(text[3 : cut.start()]), world.meant(text[cut.end() :])
            if len(first) == len(second) == 1 and [first[0], cut[1], second[0]] == asked["about"]:
                return "yes" if world.holds(first[0], cut[1], second[0]) else "no"
        return "the phrases do not mean what it is about"
    if match := re.fullmatch(r"Which thing is (leftmost|rightmost), as the robot sees it", text):
        order = sorted((t["center"][1], n) for n, t in things.items() if not t["support"])
        name = order[-1][1] if match[1] == "leftmost" else order[0][1]
        return asked["answer"] if world.meant(asked["answer"]) == [name] else f"it is {name}"
    return None
