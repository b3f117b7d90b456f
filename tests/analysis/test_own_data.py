"""A run on a user's own file: trained, and reloaded where the file is no more."""

import numpy as np
import pytest

from seqlab import load_run
from toys import config, train

CORPUS = "en\tde\n" + "".join(f"a {'b ' * (n % 5)}{n}\tA{' B' * (n % 5)}\n" for n in range(120))


@pytest.mark.filterwarnings("ignore:outputs .* have no end")
def test_a_run_on_an_own_file_needs_the_file_no_more(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.tsv").write_text(CORPUS)
    options = config(
        task={"kind": "tasks.translation.Translation"},
        data__source="corpus.tsv",
        data__max_length={"source": 8, "target": 8},
        data__buckets=(16,),
        data__fields={"source": "en", "target": "de"},
        data__shared_vocabulary=False,
        model__depth=1,
        train__steps=4,
        train__steps_per_call=4,
        train__eval_every=4,
        train__checkpoint_every=4,
    )
    path = train(options, tmp_path / "run").path
    with_file = load_run(path).predict(["a b 3", "a 4"])
    (tmp_path / "corpus.tsv").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run = load_run(path)
    assert run.predict(["a b 3", "a 4"]) == with_file
    assert np.isfinite(list(run.metrics["valid/loss"].values())).all()
    assert run.metrics["test/bleu"]
