"""The cheapest task there is: a robot holds still for six frames, seen by one small camera."""

REST = """
arena_file: arenas/table.yaml
robots:
  - {name: franka, robot_config_file: fr3, euler: [0, 0, 90]}
objects:
  - {name: apple, target_class: RigidObject, category: apple}
cameras:
  - {name: franka_front, translation: [0.47, 0.49, 1.14], orientation: [0.3209, 0.2085, 0.5033, 0.7747],
     camera_file: realsense_d455_v3, size: [32, 32]}
regions:
  - {object: franka, target: table, random_config: {pos_range: [[0, -0.42, 0], [0, -0.4, 0]], yaw_rotation: [0, 0]}}
  - {object: apple, target: table, random_config: {pos_range: [[-0.1, 0, 0], [0.1, 0.1, 0]], yaw_rotation: [-45, 45]}}
data: {language_instruction: Rest., max_episode_length: 60}
skills:
  - franka:
      - left: [{name: wait, wait_steps: 6, success_threshold: 0.02}]
"""
