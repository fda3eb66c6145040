#!/usr/bin/env bash
# Submit a run to a Ray cluster that is already up, and return at once:
#
#   RAY_API_SERVER_ADDRESS=http://HEAD:8265 deploy/training/ray-job.sh confidence-brier --data /shared/data --out /shared/run
#
# Starting a cluster by hand: `ray start --head --dashboard-host=0.0.0.0` on one node, `ray start --address=HEAD:6379` on
# the others, RAY_AUTH_MODE=token everywhere and the same ~/.ray/auth_token (`ray get-auth-token --generate` makes one):
# Ray asks for no token by default, and whoever reaches its ports runs code. demur has to be installed on every node; the
# data and --out are paths that all of them see.
set -euo pipefail
: "${RAY_API_SERVER_ADDRESS:?set it to the address of the dashboard, as in http://HEAD:8265}"
: "${1:?usage: ray-job.sh RECIPE [options] [key=value ...]}"
ray job submit --address "$RAY_API_SERVER_ADDRESS" --no-wait -- demur-train run "$@"
