"""FSDP shards -> a folder that transformers and vLLM load; the critic under the architecture that it is."""

import contextlib
import io
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from demur_training.errors import CheckpointError

CRITIC_SUFFIX = "ForTokenClassification"


def merge_actor(folder: Path, out: Path) -> None:
    """Merge the shards in `folder` (global_step_N/actor) into a causal language model in `out`, bfloat16."""
    _merge(folder, folder / "huggingface", out)
    _require_complete(out, "AutoModelForCausalLM")


def merge_critic(folder: Path, out: Path) -> None:
    """Merge the shards in `folder` (global_step_N/critic) into a token classifier with one label in `out`.

    verl saves the critic under the architecture of the language model it started from; under that name vLLM would
    load it as one and drop the value head.
    """
    with TemporaryDirectory() as scratch:
        described = Path(shutil.copytree(folder / "huggingface", Path(scratch) / "huggingface"))
        path = described / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps(as_critic(config), indent=2))
        (described / "generation_config.json").unlink(missing_ok=True)
        _merge(folder, described, out)
    _require_complete(out, "AutoModelForTokenClassification")


def as_critic(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of the token classifier with one label that a language model became as a critic."""
    architectures = [name.replace("ForCausalLM", CRITIC_SUFFIX) for name in config["architectures"]]
    labels = {"id2label": {"0": "value"}, "label2id": {"value": 0}}
    return {**config, "architectures": architectures, "num_labels": 1, **labels}


def _merge(shards: Path, description: Path, out: Path) -> None:
    """verl's own merger, quietly."""
    from verl.model_merger.base_model_merger import ModelMergerConfig
    from verl.model_merger.fsdp_model_merger import FSDPModelMerger

    out.mkdir(parents=True, exist_ok=True)
    settings = ModelMergerConfig(
        operation="merge",
        backend="fsdp",
        target_dir=str(out),
        local_dir=str(shards),
        hf_model_config_path=str(description),
    )
    with contextlib.redirect_stdout(io.StringIO()):
        FSDPModelMerger(settings).merge_and_save()


def _require_complete(out: Path, auto_class: str) -> None:
    """Load what was written. Raises CheckpointError when a weight is missing or left over."""
    import transformers

    _, info = getattr(transformers, auto_class).from_pretrained(out, output_loading_info=True)
    wrong = {name: sorted(info[name]) for name in ("missing_keys", "unexpected_keys") if info[name]}
    if wrong:
        raise CheckpointError(f"{out} does not load as {auto_class}: {wrong}")
