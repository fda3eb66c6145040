#!/usr/bin/env bash
# The toy task by PPO, by GRPO, by the exact form and by the same loop with sampled confidences, and without learning.
# Fails when a run that should have learned did not, or the one that cannot did. Draws the curves.
#
#   training/scripts/toy_runs.sh FOLDER [PICTURES]
set -euo pipefail
folder=${1:?usage: toy_runs.sh FOLDER [PICTURES]}
pictures=${2:-$folder}

demur-train toy "$folder" confidence-brier --name ppo
demur-train toy "$folder" confidence-ce --name grpo
demur-train toy "$folder" confidence-exact --name exact
demur-train toy "$folder" confidence-exact demur.estimator=sampled --name sampled || echo "sampled: no clear rise"
"$(dirname "$0")/zero_learning_rate.sh" "$folder"

best=$(python -c 'from demur_training.smoke import toy_task; print(toy_task.best_reward())')
demur-train curves "$folder"/{ppo,exact,sampled,zero} --level "$best" --to "$pictures/toy-brier.svg"
demur-train curves "$folder/grpo" --to "$pictures/toy-grpo.svg"
