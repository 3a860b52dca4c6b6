"""The editor suggests what may stand at the cursor: keys, objects, skills, robots and other names."""

import pytest

from handloom.tasks.config.loading import library
from handloom.viewer.task_page.completion import completions
from handloom.viewer.task_page.yaml_cursor import cursor_at

OBJECTS = "objects:\n  - {name: apple, category: apple}\n  - {name: bowl, category: bowl}\n"


def suggested(marked: str) -> list[str]:
    """Return what is suggested at the sign ``|``."""
    place = marked.index("|")
    found = completions(marked.replace("|", "", 1), place)
    return [item["text"] for item in found["items"]]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("reg|", "regions"),
        ("tasks:\n  - name: x\n    reg|", "regions"),
        ("objects:\n  - {name: apple, cat|", "category"),
        ("objects:\n  - name: apple\n    cat|", "category"),
        ("objects:\n  - {name: apple, category: ap|", "apple"),
        ("objects:\n  - name: apple\n    category: ap|", "apple"),
        ("objects:\n  - {name: apple, category: apple, colors: [re|", "red"),
        ("regions:\n  - {object: apple, random_config: {pos|", "pos_range"),
        ("regions:\n  - {object: apple,\n     random_config: {pos|", "pos_range"),
        ("regions:\n  - object: apple\n    random_type: A_in|", "A_in_B_region_sampler"),
        ("base: setups/so|", "setups/so101.yaml"),
        ("data:\n  language_instruction: x\n  va|", "variant"),
        ("data:\n  variant: r|", "randomized"),
        ("robots:\n  - {name: arm, robot_config_file: so|", "so101"),
        (OBJECTS + "skills:\n  - {pick: |", "apple"),
        (OBJECTS + "skills:\n  - {pick: apple}\n  - {place: apple, in: b|", "bowl"),
        (OBJECTS + "skills:\n  - {pick: apple}\n  - {place: apple, i|", "in"),
        (OBJECTS + "skills:\n  - pi|", "pick"),
        (OBJECTS + "skills:\n  - fr3:\n      - left:\n          - {name: pl|", "place"),
        (OBJECTS + "skills:\n  - fr3:\n      - left:\n          - {name: pick, objects: [a|", "apple"),
        (OBJECTS + "skills:\n  - fr3:\n      - left:\n          - {name: pick, pre|", "pre_grasp_offset"),
    ],
)
def test_the_first_suggestion_is_the_one_that_is_meant(text: str, first: str) -> None:
    assert suggested(text)[0] == first


def test_keys_that_are_there_already_are_not_suggested_again() -> None:
    assert "category" not in suggested("objects:\n  - {name: apple, category: apple, |}")
    assert "category" in suggested("objects:\n  - {name: apple, |}")


def test_keys_come_with_their_meaning() -> None:
    items = completions("data:\n  max_ep", 16)["items"]
    assert items[0]["text"] == "max_episode_length"
    assert "Step budget" in items[0]["doc"]


def test_the_word_before_the_cursor_is_replaced() -> None:
    found = completions("data:\n  max_ep", 14)
    assert (found["from"], found["to"]) == (8, 14)


@pytest.mark.parametrize("name", list(library()))
def test_no_place_of_any_task_is_too_much(name: str) -> None:
    """Half-written text is the usual case: every prefix of every file gives an answer."""
    text = library()[name].read_text(encoding="utf-8")
    for place in range(0, len(text), 97):
        cursor_at(text[:place], place)
    for place in range(0, len(text), 997):
        completions(text, place)


def test_what_is_suggested_in_a_task_of_the_library_is_a_key_of_its_place() -> None:
    text = library()["fr3_pick_place"].read_text(encoding="utf-8")
    place = text.index("regions:")
    assert suggested(text[:place] + "|")[:1] == ["name"] or "regions" in suggested(text[:place] + "reg|")
    assert "regions" in suggested(text[:place] + "reg|")
    cursor = cursor_at(text, text.index("pos_range") + 3)
    assert cursor.path == ("tasks", "*", "regions", "*", "random_config")
