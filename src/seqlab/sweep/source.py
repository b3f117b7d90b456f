"""A config file: `get_config()`, and beside it `sweep()` where the question needs many runs."""

import inspect
import runpy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.sweep.overrides import check


@dataclass(frozen=True)
class Source:
    """The functions of one config file, called with the argument after the colon."""

    path: Path
    argument: str
    functions: dict[str, Any]

    @classmethod
    def load(cls, spec: str) -> "Source":
        """Read "configs/file.py" or "configs/file.py:argument". Raises ConfigError."""
        name, _, argument = spec.partition(":")
        path = Path(name).expanduser()
        if not path.is_file():
            known = [str(file) for file in path.parent.glob("*.py")]
            raise ConfigError(f"--config: there is no file {name!r}" + suggest(name, known))
        functions = runpy.run_path(str(path))
        if "get_config" not in functions:
            raise ConfigError(f"--config: {name} has no function get_config()")
        return cls(path, argument, functions)

    @property
    def name(self) -> str:
        """Name of the experiment: file, or file_argument."""
        return f"{self.path.stem}_{self.argument}" if self.argument else self.path.stem

    @property
    def spec(self) -> str:
        """What `--config` was given."""
        return f"{self.path}:{self.argument}" if self.argument else str(self.path)

    def config(self) -> dict[str, Any]:
        """The config, typed and complete. Raises ConfigError."""
        return check(self._call(self.functions["get_config"]))

    def sweep(self) -> list[dict[str, Any]]:
        """One dict of dotted keys a point; one empty dict where the file sweeps nothing."""
        function: Callable[..., Iterable] | None = self.functions.get("sweep")
        return [dict(point) for point in self._call(function)] if function else [{}]

    def _call(self, function: Callable[..., Any]) -> Any:
        if inspect.signature(function).parameters:
            return function(self.argument) if self.argument else function()
        if self.argument and function.__name__ == "get_config":
            raise ConfigError(f"--config: {self.path} takes no argument, got {self.argument!r}")
        return function()
