#!/usr/bin/env bash
# Shows that the end-to-end smoke test can fail: the same run with learning rates of 0 must not pass as having learned.
#
#   training/scripts/zero_learning_rate.sh FOLDER
set -euo pipefail
folder=${1:?usage: zero_learning_rate.sh FOLDER}
if demur-train toy "$folder" confidence-brier --name zero actor_rollout_ref.actor.optim.lr=0 critic.optim.lr=0; then
    echo "a model that cannot learn passed as one that did" >&2
    exit 1
fi
echo "as it should be: without learning the reward does not rise"
