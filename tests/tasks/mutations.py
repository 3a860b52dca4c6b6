"""Task files with something wrong in them: seeded mutations of good ones."""

import random
import re

import yaml

WEIRD = [
    "1e308",
    "-1e308",
    ".nan",
    ".inf",
    "-1",
    "0",
    "1e-320",
    "1000000000",
    "99999999999999999999999999",
    "null",
    "true",
    "''",
    "[]",
    "{}",
    "[[]]",
    "[1, 2]",
    "{a: {b: c}}",
    "'\\u0000'",
    "!!binary aGVsbG8=",
    "2024-01-01",
    "0x7fffffffffffffff",
    "12:30:45",
    "${tasks.0.name}",
    "${nowhere}",
    "${tasks.0}",
    "*nothing",
    "'../../../../etc/passwd'",
    "/dev/zero",
    "/",
    "'" + "x" * 5000 + "'",
    "äöü\\u202e",
]
KEYS = ["base", "tasks", "robots", "<<", "name", "objects", "???", "1", "null", "[a, b]", "'a b'"]


def mutated(text: str, seed: int) -> str:
    """Return a text with one to three mistakes of many kinds."""
    rng = random.Random(seed)
    for _ in range(rng.choice([1, 1, 2, 3])):
        text = rng.choice(_KINDS)(text, rng)
    return text


def _value(text, rng):
    """Replace a value by something strange."""
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if ": " in line or line.rstrip().endswith(":")]
    i = rng.choice(places)
    key = lines[i].partition(":")[0]
    lines[i] = f"{key}: {rng.choice(WEIRD)}"
    return "\n".join(lines)


def _in_tree(text, rng):
    """Replace, drop, double or rename something anywhere in the tree, and write it anew."""
    try:
        tree = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _value(text, rng)
    spots = []

    def visit(node):
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, item in list(items):
            spots.append((node, key))
            visit(item)

    visit(tree)
    if not spots:
        return text
    node, key = rng.choice(spots)
    change = rng.randrange(5)
    try:
        strange = yaml.safe_load(rng.choice(WEIRD))
    except (yaml.YAMLError, ValueError):
        strange = None
    if change == 0 or (change == 4 and isinstance(node, list)):
        node[key] = strange
    elif change == 1:
        del node[key]
    elif change == 2 and isinstance(node, list):
        node += [node[key]] * rng.choice([1, 5, 40])
    elif change == 3 and isinstance(node, dict):
        node[rng.choice(KEYS)] = node.pop(key)
    elif isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * rng.choice([-1, 1e3, 1e9, 1e-9, 1e300])
    else:
        node[key] = [node[key]]
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


def _number(text, rng):
    """Change numbers that stay numbers, so that the file is still read and something has to be sampled."""
    places = list(re.finditer(r"(?<=[ \[,])-?\d+(\.\d+)?(?=[\],}\n])", text))
    chosen = rng.sample(places, min(len(places), rng.randint(1, 3)))
    for place in sorted(chosen, key=lambda match: -match.start()):
        value = float(place.group()) * rng.choice([-1, 0, 0.01, 0.5, 2, 10]) + rng.choice([0, 0, 0.3])
        text = text[: place.start()] + f"{value:g}" + text[place.end() :]
    return text


def _line(text, rng):
    """Drop, double, swap or indent lines."""
    lines = text.splitlines()
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = rng.choice(["  ", "\t", "- ", "# ", "? "]) + lines[i]
    return "\n".join(lines)


def _characters(text, rng):
    """Change, cut or insert characters."""
    i = rng.randrange(len(text))
    kind = rng.randrange(3)
    if kind == 0:
        return text[:i] + rng.choice("{}[]&*!|>'\"%@`,:#-?\t\0\x1b\ufeff") + text[i + 1 :]
    if kind == 1:
        return text[:i]
    return text[:i] + "".join(rng.choice("abc[{:- \n") for _ in range(rng.randint(1, 30))) + text[i:]


_KINDS = [_value, _in_tree, _in_tree, _line, _characters, _number, _number, _number, _number, _number]
