"""Labels that are images, or are read from them: planes of numbers, how they are packed, outlines of masks."""
