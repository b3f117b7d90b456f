"""The house: which part may import which, and how long a file may get."""

import ast
import sys

import pytest

from toys import ROOT, python

SOURCE = ROOT / "src" / "seqlab"
MODULES = sorted(SOURCE.rglob("*.py"))
CONFIGS = sorted((ROOT / "configs").glob("*.py"))
FILES = [*MODULES, *CONFIGS, ROOT / "launch.py"]

# A part, and the parts of seqlab it may import besides itself.
BELOW = {
    "types": "nothing",
    "build": "nothing",
    "config": "nothing",
    "nn": "types build",
    "positions": "types build nn",
    "placements": "types build nn",
    "mixers": "types build nn positions",
    "models": "types build nn positions placements mixers",
    "data": "types build",
    "tasks": "types build data",
    "decoding": "types build models",
    "train": "types build config nn data tasks models decoding",
    "analysis": "types build config data tasks models decoding train sweep report",
    "sweep": "types build config train",
    "check": "types build config data models train sweep analysis report",
    "report": "types build config train sweep",
    "predict": "build analysis",
    "export": "build train analysis",
    "evaluate": "build analysis",
}


def imported(path):
    """Modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def part(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("name", BELOW)
def test_imports_run_one_way(name):
    allowed = {name, *BELOW[name].split()}
    files = [path for path in MODULES if part(path) == name]
    assert files
    for path in files:
        found = {module.split(".")[1] for module in imported(path) if module.startswith("seqlab.")}
        assert found <= allowed, f"{path}: {found - allowed}"


def test_every_part_has_its_place():
    assert {part(path) for path in MODULES} == {*BELOW, "__init__"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_configs_import_only_the_defaults(path):
    assert set(imported(path)) == {"seqlab.config.defaults"}


def test_nothing_imports_configs_or_experiments():
    for path in MODULES:
        roots = {module.split(".")[0] for module in imported(path)}
        assert not roots & {"configs", "experiments", "launch", "tests"}, path


def test_only_build_imports_by_name_and_nothing_unpickles():
    for path in MODULES:
        text = path.read_text("utf-8")
        assert part(path) == "build" or "import_module" not in text, path
        assert not {"pickle", "dill", "cloudpickle"} & set(imported(path)), path


def test_only_the_checkpoints_know_orbax():
    users = {path.name for path in MODULES if any("orbax" in m for m in imported(path))}
    assert users == {"checkpoint.py", "restoring.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_functions_stay_short(path):
    text = path.read_text("utf-8")
    assert text.count("\n") < 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 60, f"{path}: {node.name} has {length} lines"


def test_no_module_of_strangers():
    """No utils.py, and every file says in its first line what it is."""
    for path in MODULES:
        assert path.name not in ("utils.py", "misc.py", "common.py", "helpers.py")
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path


def test_training_imports_no_tensorflow():
    """Nor do launching and reloading."""
    script = (
        "import sys; sys.path[:0] = ['.', 'tests']\n"
        "import launch, seqlab, seqlab.analysis.run, seqlab.train.loop\n"
        "from pathlib import Path\n"
        "from toys import config, train\n"
        "train(config(train__steps=1, model__depth=1), Path(sys.argv[1]))\n"
        "heavy = {'tensorflow', 'torch'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        found = python("-c", script, f"{directory}/run")
    assert found.returncode == 0, found.stderr


def test_a_config_needs_no_jax():
    """A plan of hundreds of points starts at once."""
    script = "import sys, seqlab.config; sys.exit('jax' in sys.modules)"
    assert python("-c", script).returncode == 0
    assert sys.version_info >= (3, 11)
