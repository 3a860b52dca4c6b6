"""What a task file may say about a skill is bounded, so that no number in it overflows later."""

import re

import pytest
from pydantic import ValidationError

from handloom.errors import ConfigError
from handloom.skills.configs import SKILL_CONFIGS
from handloom.tasks import library, load_task


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("post_place_vector: [0.0, 0.0, 1e308]", r"post_place_vector: 1e\+308 is not between -100000 and 100000"),
        ("gripper_change_steps: 1000000000", r"gripper_change_steps: 1e\+09 is not between"),
        ("x_ratio_range: [0.4, -1e200]", r"x_ratio_range: -1e\+200 is not between"),
    ],
)
def test_a_number_that_nobody_means_is_refused_with_its_line(tmp_path, given, problem):
    key = given.partition(":")[0]
    text = re.sub(rf"{key}: (\[.*?\]|[^,]+)", given, library()["fr3_pick_place"].read_text())
    line = next(i for i, line in enumerate(text.splitlines(), start=1) if given in line)
    file = tmp_path / "task.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=rf"task.yaml:{line}: tasks.0.skills.*{problem}"):
        load_task(file)


@pytest.mark.parametrize("name", sorted(SKILL_CONFIGS))
def test_every_skill_refuses_numbers_that_overflow_in_every_key(name):
    config = SKILL_CONFIGS[name]
    for key in config.model_fields:
        with pytest.raises(ValidationError) as caught:
            config.model_validate({"name": name, "objects": ["a", "b"], key: 1e308})
        assert any(error["loc"][0] == key for error in caught.value.errors()), key


def test_an_orientation_needs_a_length():
    with pytest.raises(ValidationError, match="a quaternion must have length 1"):
        SKILL_CONFIGS["pick"].model_validate({"name": "pick", "objects": ["a"], "fixed_orientation": [0, 0, 0, 0]})
