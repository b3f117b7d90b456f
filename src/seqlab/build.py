"""From data to objects: `{"kind": "mixers.attention.MultiHead", "heads": 8}` -> MultiHead(heads=8).

This is the only place that imports by name. A kind is a dotted path inside seqlab
("positions.rope.Rope") or an absolute one ("mylab.positions.Spiral"). Reloading a run directory,
which may come from a stranger, builds only seqlab's own parts unless the caller trusts others.
"""

import contextlib
import contextvars
import dataclasses
import difflib
import importlib
import importlib.util
import inspect
import pkgutil
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Base class of each group of parts: what `parts` looks for when it walks the package.
GROUPS = {
    "mixers": "mixers.base.Mixer",
    "positions": "positions.base.Position",
    "placements": "placements.base.Placement",
    "models": "models.base.Model",
    "tasks": "tasks.base.Task",
}

# Where parts live. Nothing else in seqlab can be named by a config: a run directory may come from
# a stranger, and building must not be a way to call, say, what writes files.
PACKAGES = (*GROUPS, "nn", "data.text", "report.figures")

_trusted: contextvars.ContextVar[tuple[str, ...] | None] = contextvars.ContextVar(
    "trusted", default=None
)


class ConfigError(ValueError):
    """A config is wrong: the message names the key, the bad value and what would be right."""


@contextlib.contextmanager
def trust(packages: Iterable[str]) -> Iterator[None]:
    """Within this block only parts of seqlab and of the named packages are imported."""
    token = _trusted.set(("seqlab", *packages))
    try:
        yield
    finally:
        _trusted.reset(token)


def build(spec: Any, where: str, /, **defaults: Any) -> Any:
    """Build the part that `spec` describes; an object that is no description is returned as it is.

    spec: a dotted path, or a mapping with `kind` and keywords. where: the config key, for errors.
    defaults: keywords for every part that knows them; the spec's own keywords win.
    Raises ConfigError naming the key, the bad value and the nearest valid ones.
    """
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        return spec
    if "kind" not in spec:
        raise ConfigError(f"{where}: a part needs a `kind`, got keys {sorted(spec)}")
    factory = resolve(spec["kind"], where)
    known = {
        name: parameter
        for name, parameter in inspect.signature(factory).parameters.items()
        if name not in ("parent", "name")
    }
    given = {key: value for key, value in spec.items() if key != "kind"}
    for key, value in given.items():
        if key not in known:
            raise ConfigError(
                f"{where}.{key}: {spec['kind']} has no option `{key}`"
                + suggest(key, known, "its options are")
            )
        given[key] = check_type(value, known[key].annotation, f"{where}.{key}")
        if isinstance(value, str | Mapping) and holds_part(known[key].annotation):
            given[key] = build(value, f"{where}.{key}", **defaults)
    chosen = {key: value for key, value in defaults.items() if key in {*known, "parent", "name"}}
    if "parent" in chosen and "parent" not in inspect.signature(factory).parameters:
        del chosen["parent"]
    missing = [
        name
        for name, parameter in known.items()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name not in chosen | given
    ]
    if missing:
        raise ConfigError(f"{where}: {spec['kind']} needs a value for {', '.join(missing)}")
    return factory(**chosen | given)


def resolve(kind: Any, where: str) -> Any:
    """The class that a dotted path names. Raises ConfigError when it names no part."""
    if not isinstance(kind, str) or not kind.rpartition(".")[0]:
        raise ConfigError(f"{where}: `kind` is a dotted path, got {kind!r}" + _nearest(kind))
    for path in (f"seqlab.{kind}", kind):
        module, _, name = path.rpartition(".")
        inside = f"{module}.".startswith("seqlab.")
        if inside and not module.removeprefix("seqlab.").startswith(PACKAGES):
            continue
        # The root first: looking for a.b imports a, which needs trust.
        if not _exists(module.partition(".")[0]):
            continue
        _check_trust(module, where)
        if not _exists(module):
            continue
        value = getattr(importlib.import_module(module), name, None)
        if inspect.isclass(value) and (value.__module__ == module or not inside):
            return value
    raise ConfigError(f"{where}: there is no part {kind!r}" + _nearest(kind))


def parts(group: str, packages: Iterable[str] = ("seqlab",)) -> dict[str, type]:
    """Every public part of a group, dotted name -> class, found by walking the packages.

    group: one of GROUPS. A part is a class that derives from the group's base (the base itself
    included when it can be used) and whose name has no leading underscore.
    """
    base = resolve(GROUPS[group], group)
    found: dict[str, type] = {}
    for package in packages:
        root = f"seqlab.{group}" if package == "seqlab" else package
        for module in _walk(root):
            for name, value in vars(module).items():
                own = inspect.isclass(value) and value.__module__ == module.__name__
                if own and issubclass(value, base) and _public(value, name):
                    found[f"{module.__name__}.{name}".removeprefix("seqlab.")] = value
    return dict(sorted(found.items()))


def holds_part(annotation: Any) -> bool:
    """Is an option of this annotation a part, which a config describes as any other?"""
    classes = typing.get_args(annotation) or (annotation,)
    return any(inspect.isclass(c) and dataclasses.is_dataclass(c) for c in classes)


def check_type(value: Any, annotation: Any, where: str) -> Any:
    """Check a plain value against a simple annotation; an int given for a float becomes one."""
    if annotation is float and type(value) is int:
        return float(value)
    simple = annotation in (int, float, bool, str)
    if simple and type(value) is not annotation:
        raise ConfigError(
            f"{where}: expected {annotation.__name__}, got {type(value).__name__} {value!r}"
        )
    return value


def suggest(bad: Any, valid: Iterable[str], listing: str = "choose from") -> str:
    """': did you mean X?' or the list of what is valid, to end an error message with."""
    names = sorted(valid)
    close = difflib.get_close_matches(str(bad), names, n=3, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(f"`{name}`" for name in close) + "?"
    return f"; {listing}: " + ", ".join(names)


def _nearest(kind: Any) -> str:
    group = str(kind).partition(".")[0]
    groups = [group] if group in GROUPS else list(GROUPS)
    return suggest(kind, [name for group in groups for name in parts(group)])


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        return False


def _check_trust(module: str, where: str) -> None:
    trusted = _trusted.get()
    if trusted is not None and not any(f"{module}.".startswith(f"{name}.") for name in trusted):
        raise ConfigError(
            f"{where}: the run names code outside seqlab ({module}); pass "
            f"trusted=({module.partition('.')[0]!r},) if you trust it"
        )


def _walk(root: str) -> Iterator[Any]:
    module = importlib.import_module(root)
    yield module
    for info in pkgutil.walk_packages(getattr(module, "__path__", []), f"{root}."):
        yield importlib.import_module(info.name)


def _public(value: type, name: str) -> bool:
    abstract = inspect.isabstract(value) or vars(value).get("abstract", False)
    return not name.startswith("_") and not abstract and dataclasses.is_dataclass(value)
