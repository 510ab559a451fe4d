"""What building does beside packing files: a wheel carries `ebbflow-stubs`, so that editors know the public names."""

from __future__ import annotations

import importlib.util
import pathlib
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).parent


class StubsHook(BuildHookInterface):
    """Writes the stubs: into the wheel, or beside the package where it is installed with `pip install -e`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Have the stubs written, and packed where a wheel is built."""
        spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
        assert spec is not None and spec.loader is not None
        stubs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(stubs)
        if version == "editable":
            stubs.main(ROOT / "ebbflow-stubs")
            return
        self.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.scratch.name) / "ebbflow-stubs"
        stubs.main(folder)
        build_data["force_include"][str(folder)] = "ebbflow-stubs"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Throw the scratch folder away."""
        if version != "editable":
            self.scratch.cleanup()
