"""The stage of Isaac Sim, by prim path: the worlds, scenes and robots that ported code adds to it."""
