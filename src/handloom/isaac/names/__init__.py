"""The stage of Isaac Sim, by prim path: worlds, scenes and robots that ported code puts on it."""
