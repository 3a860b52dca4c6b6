"""Success terms and what they measure, in words."""
