"""The default renderer: a tile ray caster in Numba, installed by pip only, deterministic to the bit.

One image is cut into tiles of 16 x 8 pixels. A tile passes through every stage as 128 lanes of float32 in one flat
array (``layout.py``), so that each stage is a handful of loops without branches that the compiler turns into vector
code: visibility, surface, shadows, ambient occlusion, shading, anti-aliasing.
"""
