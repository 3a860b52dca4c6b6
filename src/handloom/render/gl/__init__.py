"""MuJoCo's classic OpenGL renderer as a backend: EGL, OSMesa or GLFW, whichever the machine has."""
