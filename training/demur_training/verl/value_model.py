"""Value models for verl's critic: loaded with the attention kernels that the configuration names.

verl 0.9.1 loads every critic with flash attention, whatever `critic.model.override_config.attn_implementation` says
(`verl.utils.model.load_valuehead_model`), and stops where the package flash-attn is absent.
"""

from typing import Any

PLUGIN = "demur_training.verl.value_model_plugin"
"""What verl imports in every process when `VERL_USE_EXTERNAL_MODULES` names it."""


def load_valuehead_model(local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool) -> Any:
    """verl's signature. A token classifier with one output, `model_config` deciding everything else of it."""
    from transformers import AutoModelForTokenClassification

    return AutoModelForTokenClassification.from_pretrained(
        local_path,
        dtype=torch_dtype,
        config=model_config,
        attn_implementation=model_config._attn_implementation,
        trust_remote_code=trust_remote_code,
    )


def install() -> None:
    """Take the place of verl's own loader in this process. Its engines look it up when they build a model."""
    import verl.utils.model as model

    model.load_valuehead_model = load_valuehead_model
