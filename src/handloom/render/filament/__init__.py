"""MuJoCo 4's physically based renderer, Filament, over Vulkan."""
