"""The ray caster on NVIDIA cards: the tables and the arithmetic of the processor's, thousands of pictures at a time."""
