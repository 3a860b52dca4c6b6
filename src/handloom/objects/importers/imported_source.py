"""The model of an imported object, complete in itself: XML and the files it names."""

import hashlib
from dataclasses import dataclass

import mujoco


@dataclass(frozen=True, kw_only=True)
class ImportedSource:
    """A model in normal form; can be pickled, and does not need the files it came from."""

    xml: str
    """MJCF with one root body ``object``."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Meshes and textures by the name the XML uses."""

    def spec(self) -> mujoco.MjSpec:
        """Return a new model."""
        return mujoco.MjSpec.from_string(self.xml, assets=dict(self.files))

    def fingerprint(self) -> str:
        """Return a hash of the XML and all files."""
        digest = hashlib.sha256(self.xml.encode())
        for name, content in self.files:
            digest.update(name.encode())
            digest.update(content)
        return digest.hexdigest()
