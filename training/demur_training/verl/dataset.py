"""verl's dataset with one addition: the risk threshold is drawn anew whenever a training question is read."""

from typing import Any

from verl.utils.dataset.rl_dataset import RLHFDataset

from demur import prompts
from demur.core.answers import ContractName

THRESHOLDS = 100
"""t is drawn on 0, 0.01, ..., 0.99, so that the percentage in the prompt is the one that is scored."""


class QuestionDataset(RLHFDataset):
    """Rows as `demur-train data` writes them. A row marked `redraw` gets a fresh threshold and its prompt with every
    reading, so in every epoch; the samples of one reading share it. torch's generator decides, as it does in any
    data augmentation: seed it to repeat a run."""

    def __getitem__(self, item: int) -> dict[str, Any]:
        row = super().__getitem__(item)
        if row["extra_info"].get("redraw"):
            row |= redraw(row["extra_info"])
        return row


def redraw(extra_info: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row that change with a new risk threshold."""
    import torch

    contract: ContractName = "explicit_risk"
    threshold = int(torch.randint(THRESHOLDS, ())) / THRESHOLDS
    chat = prompts.messages(extra_info["question"], contract, domain=extra_info["domain"], risk_threshold=threshold)
    return {"raw_prompt": chat, "extra_info": {**extra_info, "risk_threshold": threshold}}
