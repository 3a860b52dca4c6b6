"""Presets: image quality per backend."""

from dataclasses import dataclass

from handloom.errors import unknown_name


@dataclass(frozen=True, kw_only=True)
class CpuPreset:
    """Effects of the ray caster."""

    shadows: bool = True
    """Soft shadows of every light that casts them."""
    ambient_occlusion: bool = True
    """Darker corners and contacts."""
    mirrors: bool = True
    """Mirror images in planes and box tops whose material has reflectance."""
    reflections: bool = True
    """Reflections of windows and lamps of the surroundings in shiny surfaces."""
    smoothing: int = 1
    """Anti-aliasing: 0 none, 1 edge pixels borrow their neighbours' colours, 2 edge pixels are shaded four times."""


@dataclass(frozen=True, kw_only=True)
class GlPreset:
    """Effects of MuJoCo's classic renderer."""

    shadows: bool = True
    """Hard shadows from shadow maps."""
    samples: int = 0
    """Multisampling per pixel; 0 is none."""
    shadow_size: int = 1024
    """Side of a shadow map [px]."""


@dataclass(frozen=True, kw_only=True)
class FilamentPreset:
    """Effects of MuJoCo's Filament renderer."""

    shadows: bool = True
    """Shadows of every light that casts them."""
    reflections: bool = True
    """Mirror images in materials with reflectance."""
    samples: int = 1
    """Multisampling per pixel; 1 is none."""


CPU_PRESETS: dict[str, CpuPreset] = {
    "fast": CpuPreset(ambient_occlusion=False, mirrors=False, reflections=False, smoothing=0),
    "balanced": CpuPreset(),
    "quality": CpuPreset(smoothing=2),
}
GL_PRESETS: dict[str, GlPreset] = {
    "fast": GlPreset(shadows=False),
    "balanced": GlPreset(),
    "quality": GlPreset(samples=4, shadow_size=2048),
}
FILAMENT_PRESETS: dict[str, FilamentPreset] = {
    "fast": FilamentPreset(shadows=False, reflections=False),
    "balanced": FilamentPreset(),
    "quality": FilamentPreset(samples=4),
}


def cpu_preset(name: str) -> CpuPreset:
    """Return a preset of the ray caster by name: fast, balanced or quality."""
    if name not in CPU_PRESETS:
        raise unknown_name("render preset", name, CPU_PRESETS)
    return CPU_PRESETS[name]


def gl_preset(name: str) -> GlPreset:
    """Return a preset of the classic renderer by name: fast, balanced or quality."""
    if name not in GL_PRESETS:
        raise unknown_name("render preset", name, GL_PRESETS)
    return GL_PRESETS[name]


def filament_preset(name: str) -> FilamentPreset:
    """Return a preset of the Filament renderer by name: fast, balanced or quality."""
    if name not in FILAMENT_PRESETS:
        raise unknown_name("render preset", name, FILAMENT_PRESETS)
    return FILAMENT_PRESETS[name]
