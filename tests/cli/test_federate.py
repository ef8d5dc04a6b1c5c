"""`partwise federate simulate`: from study.toml to a run directory, and back from every interruption."""

from __future__ import annotations

import json
import signal

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from partwise.estimators.federate import federate
from partwise.estimators.parties import enter
from partwise.estimators.study_wishes import Wishes

NAMES = [f"gene{j}" for j in range(12)]
HEAD = 'study = "s"\nn_components = 3\nrounds = 4\n'
DEALT = '[simulate]\ndata = "X.npy"\nparties = 4\n'
JSON_HAS = {
    "relative_error",
    "rmsd_sum",
    "rounds",
    "bytes_up",
    "bytes_down",
    "drift",
    "seconds",
    "faults",
    "run",
    "method",
}


def frame(rows, seed=0):
    rng = np.random.default_rng(seed)
    parts = np.random.default_rng(99).random((3, 12))
    return pd.DataFrame(rng.random((rows, 3)) @ parts, columns=NAMES)


def party(*names):
    return "".join(f'[[party]]\nname = "{name}"\ndata = "{name}.csv"\n' for name in names)


@pytest.fixture
def study(call, here):
    """Run a study of this text."""

    def run(text, *words, name="study.toml"):
        (here / name).write_text(text)
        return call("federate", "simulate", name, *words)

    return run


@pytest.fixture
def north_and_south(here):
    """Two parties' files; the south's features lie in another order."""
    north, south = frame(20, 1), frame(9, 2)
    north.to_csv(here / "north.csv", index=False)
    south[NAMES[::-1]].to_csv(here / "south.csv", index=False)
    return north, south


def told(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_parties_with_files_of_their_own(study, here, north_and_south):
    result = study(HEAD + party("north", "south"), "-o", "out", "--pooled")
    assert result.exit_code == 0, result.stderr
    for word in ("2 parties of 9 to 20 rows", "relative error", "sum of RMSD", "pooled fit", "partwise apply out NEW"):
        assert word in result.stdout
    assert "round 4 of 4, relative error" in result.stderr
    assert "drift" in result.stderr
    expected = federate(enter(list(north_and_south)).Xs, Wishes(3, rounds=4, tol=1e-5))
    model = load_file(here / "out" / "model.safetensors")
    np.testing.assert_array_equal(model["H"], expected.H)
    np.testing.assert_allclose(
        load_file(here / "out" / "parties" / "south.safetensors")["W"], expected.Ws[1], rtol=1e-9
    )
    assert json.loads((here / "out" / "names.json").read_text())["features"] == NAMES
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    files = {path.relative_to(here / "out").as_posix() for path in (here / "out").rglob("*") if path.is_file()}
    assert set(manifest["files"]) == {name for name in files if not name.startswith(("checkpoint", "manifest"))}
    assert [one["name"] for one in manifest["data"]["parties"]] == ["north", "south"]
    trace = [json.loads(line) for line in (here / "out" / "trace.jsonl").read_text().splitlines()]
    assert [line["round"] for line in trace] == [0, 1, 2, 3, 4]
    transcript = [json.loads(line) for line in (here / "out" / "transcript.jsonl").read_text().splitlines()]
    assert {line["name"] for line in transcript if line["sender"] >= 0} == {"gram", "cross", "sq_norm"}
    assert sum(line["bytes"] for line in transcript if line["sender"] >= 0) == manifest["bytes_up"]


def test_apply_goes_by_the_names_of_a_study(study, call, here, north_and_south):
    assert study(HEAD + party("north", "south"), "-o", "out").exit_code == 0
    applied = call("apply", "out", "south.csv", "-o", "W.npy")
    assert applied.exit_code == 0, applied.stderr
    W = load_file(here / "out" / "parties" / "south.safetensors")["W"]
    np.testing.assert_allclose(np.load(here / "W.npy"), W, atol=1e-6)


@pytest.mark.parametrize("method", ["exact", "fnmf", "asyn-sd", "ipalm-once"])
@pytest.mark.parametrize(
    "partition", ["iid", "skewed:0.5", 'label"\nlabels = "labels.npy', 'dirichlet:0.3"\nlabels = "labels.npy']
)
def test_one_matrix_dealt_out(study, here, method, partition):
    np.save(here / "labels.npy", np.arange(60) % 5)
    out = told(study(f'{HEAD}method = "{method}"\n{DEALT}partition = "{partition}"\n', "-o", "out", "--json", "-q"))
    assert set(out) >= JSON_HAS
    assert out["parties"] == 4
    rows = [load_file(here / "out" / "parties" / f"party-{p}.safetensors")["rows"] for p in range(4)]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(60))


def test_labels_come_with_a_data_set(study):
    text = HEAD + '[simulate]\ndata = "digits"\nparties = 5\npartition = "label"\n'
    assert told(study(text, "--json", "-q"))["relative_error"] < 0.6
    wrong = study(text + 'labels = "z"\n', "--force")
    assert wrong.exit_code == 1
    assert "no array 'z'" in wrong.stderr


def test_speeds_and_dropouts_are_simulated(study):
    text = f'{HEAD}method = "syn-sd"\n{DEALT}speeds = "uniform:1..10"\ndropout = 0.2\n'
    first, again = told(study(text, "--json", "-q")), told(study(text, "--json", "-q", "--force"))
    assert first["clock"] > 0
    assert len(first["faults"]) > 0
    same = ("relative_error", "rmsd_sum", "bytes_up", "bytes_down", "drift", "clock", "faults")
    assert [first[name] for name in same] == [again[name] for name in same]


def test_secure_sums(study):
    plain = told(study(HEAD + DEALT, "--json", "-q"))
    secure = told(study(HEAD + DEALT + "[privacy]\nsecure_sum = true\n", "--json", "-q", "--force"))
    assert secure["relative_error"] == pytest.approx(plain["relative_error"], rel=1e-9)
    assert secure["bytes_up"] > plain["bytes_up"]


def test_sums_under_encryption_are_those_of_the_secure_sum(study, here):
    text = (
        HEAD.replace("rounds = 4", "rounds = 1")
        + 'method = "sfmf"\n'
        + DEALT.replace("4", "3")
        + "[privacy]\nsecure_sum = "
    )
    masks = told(study(text + "true\n", "-o", "masks", "--json", "-q"))
    shown = study(text + '"paillier"\n', "-o", "sealed")
    assert "sfmf, sums under Paillier's encryption, 2048 bits" in shown.stdout
    models = [load_file(here / name / "model.safetensors")["H"] for name in ("masks", "sealed")]
    np.testing.assert_array_equal(*models)
    sealed = json.loads((here / "sealed" / "manifest.json").read_text())
    assert sealed["relative_error"] == masks["relative_error"]
    numbers, ciphertext = 3 * 30 + 1, 2 * 2048 // 8
    wide = 2  # ciphertexts of a number whose size nobody knows yet
    assert sealed["bytes_up"] == 2048 // 8 + 3 * ciphertext * (-(-numbers // 31) + wide) + 8 * (numbers + 34)


def test_parties_go_by_their_names_in_faults_and_in_errors(study, here):
    for p, name in enumerate(("north", "south", "east")):
        frame(9, p).to_csv(here / f"{name}.csv", index=False)
    text = HEAD + party("north", "south", "east") + "[simulate]\ndropout = {}\n"
    found = told(study(text.format(0.3), "--json", "-q"))
    assert found["faults"]
    assert all(f"{fault['sentence'].split()[1]}" in {"north", "south", "east"} for fault in found["faults"])
    refused = study(text.format(0.99) + "[privacy]\nsecure_sum = true\n", "-o", "other")
    assert refused.exit_code == 1
    assert "Parties north, east did not answer to 'masked' of round 0. Party south did not answer" in refused.stderr


def test_a_private_study_has_a_ledger_that_an_audit_finds_sound(study, call, here):
    text = HEAD.replace("rounds = 4\n", "") + DEALT + "[privacy]\nepsilon = 4.0\ndelta = 1e-4\n"
    out = told(study(text, "-o", "out", "--json", "-q"))
    assert out["relative_error"] is None, "no noise hides a record in it"
    audited = call("audit", "out", "--json")
    assert audited.exit_code == 0, audited.output
    assert json.loads(audited.stdout)["budget"] == 4.0
    assert study(text, "-o", "more", "--pooled").exit_code == 2


def cut_off(monkeypatch, after):
    """As if Ctrl-C came twice in the round after this one."""
    from partwise.cli import federating

    calls = []

    def say(point):
        calls.append(point)
        if len(calls) > after:
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(federating, "told", say)


@pytest.mark.parametrize("method", ["exact", "fnmf", "syn-sd"])
def test_stopped_and_gone_on_with_is_never_stopped(study, here, monkeypatch, method):
    text = f'{HEAD}method = "{method}"\n{DEALT}'
    whole = told(study(text, "-o", "whole", "--json", "-q"))
    with monkeypatch.context() as stopping:
        cut_off(stopping, 2)
        stopped = study(text, "-o", "out")
    assert stopped.exit_code == 1
    assert "is kept. Go on with:  partwise federate simulate study.toml -o out --resume" in stopped.stderr
    assert not (here / "out").exists()
    unasked = study(text, "-o", "out")
    assert unasked.exit_code == 2
    assert "--resume" in unasked.stderr
    other = study(text.replace("n_components = 3", "n_components = 2"), "-o", "out", "--resume")
    assert other.exit_code == 2
    assert "n_components (3 then, 2 now)" in other.stderr
    gone_on = told(study(text, "-o", "out", "--resume", "--json", "-q"))
    model, expected = (load_file(here / name / "model.safetensors")["H"] for name in ("out", "whole"))
    np.testing.assert_array_equal(model, expected)
    assert gone_on["bytes_up"] == whole["bytes_up"]
    assert not (here / "out.partial").exists()


def test_more_rounds_go_on_from_a_whole_run(study, here):
    text = HEAD.replace("rounds = 4", "rounds = 7") + DEALT
    told(study(text, "-o", "whole", "--json", "-q"))
    told(study(HEAD + DEALT, "-o", "out", "--json", "-q"))
    assert told(study(text, "-o", "out", "--resume", "--json", "-q"))["rounds"] == 7
    np.testing.assert_array_equal(*(load_file(here / name / "model.safetensors")["H"] for name in ("out", "whole")))
    np.save(here / "X.npy", np.load(here / "X.npy") + 1)
    changed = study(text, "-o", "out", "--resume")
    assert changed.exit_code == 2
    assert "Ask for the same" in changed.stderr


def test_ctrl_c_ends_after_the_round(start, here):
    (here / "study.toml").write_text(HEAD.replace("= 4", "= 100000").replace("rounds", "tol = 0.0\nrounds") + DEALT)
    process = start("federate", "simulate", "study.toml")
    while "round 3 " not in (process.stderr.readline() or "round 3 "):
        pass
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "is kept. Go on with" in stderr
    assert (here / "run.partial").exists()
    assert not (here / "run").exists()


BAD = {
    "a method's name": (HEAD + 'method = "magic"\n' + DEALT, 2, "method = 'magic' is not known; expected one of: exact"),
    "a key": (HEAD + 'method = "fnmf"\naligment = "lap"\n' + DEALT, 2, "Did you mean alignment?"),
    "another method's option": (HEAD + 'alignment = "lap"\n' + DEALT, 2, "alignment is an option of fnmf"),
    "an option's value": (HEAD + 'method = "fnmf"\nalignment = "x"\n' + DEALT, 2, "lap-rho"),
    "an option's kind": (HEAD + 'method = "fedavg"\nlocal_steps = "x"\n' + DEALT, 2, "positive whole number"),
    "a kind": (HEAD.replace("3", '"3"') + DEALT, 2, "n_components = '3'; expected a whole number"),
    "no k": ('study = "s"\n' + DEALT, 2, "does not say n_components"),
    "no TOML": ("study = digits\n", 2, "is no TOML"),
    "no data": (HEAD, 2, "names no data"),
    "two kinds of data": (HEAD + party("north") + DEALT, 2, "leave one of them out"),
    "a party's name": (HEAD + party("../north"), 2, "as it names files"),
    "parties of one name": (HEAD + party("north", "north"), 2, "two parties are called north"),
    "a party's key": (HEAD + party("north") + "rows = 3\n", 2, "a party has name, data and key"),
    "[simulate]'s key": (HEAD + DEALT + 'partion = "iid"\n', 2, "Did you mean partition?"),
    "a partition": (HEAD + DEALT + 'partition = "random"\n', 2, "'dirichlet:0.3'"),
    "labels that are not there": (HEAD + DEALT + 'partition = "label"\n', 1, "no place for labels"),
    "labels that nobody looks at": (HEAD + DEALT + 'labels = "y"\n', 2, "looks at no labels"),
    "too many parties": (HEAD + DEALT.replace("4", "99"), 2, "cannot share 60 rows"),
    "speeds": (HEAD + DEALT + 'speeds = "fast"\n', 2, "uniform:1..10"),
    "a dropout": (HEAD + DEALT + "dropout = 1.0\n", 2, "probability"),
    "half a promise": (HEAD + DEALT + "[privacy]\nepsilon = 1.0\n", 2, "lacks delta"),
    "a promise that stops by an error": (HEAD + "tol = 0.1\n" + DEALT + "[privacy]\nepsilon = 1.0\ndelta = 1e-5\n", 2, "tol"),
    "a word of a promise": (HEAD + DEALT + "[privacy]\nepsilon = 1.0\ndelta = 1e-5\nnoise = 3\n", 2, "does not know noise"),
    "a secure sum of two": (HEAD + DEALT.replace("4", "2") + "[privacy]\nsecure_sum = true\n", 2, "3 parties at least"),
    "a secure sum of what must be seen": (HEAD + 'method = "fnmf"\n' + DEALT + "[privacy]\nsecure_sum = true\n", 2, "cannot have"),
    "a sum of another kind": (HEAD + DEALT + '[privacy]\nsecure_sum = "rsa"\n', 2, "expected True, False, or 'paillier'"),
    "a seed": (HEAD + "seed = 99999999999999999999\n" + DEALT, 2, "2⁶³"),
    "a typing error in a data set": (HEAD + DEALT.replace("X.npy", "digitz"), 1, "Did you mean digits?"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_a_sentence_and_leaves_nothing(study, here, north_and_south, case):
    text, code, says = BAD[case]
    before = sorted(path.name for path in here.iterdir())
    result = study(text)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert "bug" not in result.stderr
    assert sorted(path.name for path in here.iterdir()) == sorted([*before, "study.toml"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.drop(columns=["gene3"]), "party east lacks 1 of the 12 features that others have: gene3"),
        (lambda f: f.assign(new=1.0), "party east has 1 features that others lack: new"),
        (lambda f: f.iloc[:0], "party east: east.csv holds a header and no rows"),
        (lambda f: f.mask(f > f.max().max() * 0.9), "party east: Input X contains NaN"),
        (lambda f: -f, "party east: Negative values"),
        (lambda f: f.assign(gene2="x"), "party east: east.csv, line 2, column 'gene2' holds 'x'"),
        (None, "party east: There is no file east.csv"),
    ],
)
def test_a_party_whose_data_do_not_fit_is_named(study, here, north_and_south, change, says):
    if change is not None:
        change(frame(5, 3)).to_csv(here / "east.csv", index=False)
    result = study(HEAD + party("north", "east"))
    assert result.exit_code == 1
    assert says in result.stderr
    assert not (here / "run.partial").exists()


def test_odd_parties_are_taken(study, here, north_and_south):
    """One row; a column of zeros; fewer rows than components."""
    frame(1, 3).to_csv(here / "one.csv", index=False)
    frame(5, 4).assign(gene4=0.0).to_csv(here / "zero.csv", index=False)
    text = HEAD.replace("n_components = 3", "n_components = 7") + party("north", "one", "zero")
    assert told(study(text, "--json", "-q"))["relative_error"] < 0.2


def test_paths_are_meant_from_the_study_file(study, here, north_and_south):
    (here / "deep").mkdir()
    for name in ("north", "south"):
        (here / f"{name}.csv").rename(here / "deep" / f"{name}.csv")
    assert told(study(HEAD + party("north", "south"), "--json", "-q", name="deep/study.toml"))["rounds"] == 4


def test_no_study(call):
    result = call("federate", "simulate", "nowhere.toml")
    assert result.exit_code == 1
    assert "There is no file nowhere.toml" in result.stderr
