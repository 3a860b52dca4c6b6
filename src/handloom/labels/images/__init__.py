"""Labels that are images or are computed from them: planes of numbers, their packing, outlines of masks."""
