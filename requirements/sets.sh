# What is installed together, and out of which extras: read by scripts/setup and scripts/compile-requirements.
extras_of() {
    case $1 in
        cpu | gpu | training-gpu) echo "$1" ;;
        gpu-ray) echo gpu,ray ;;
        training-cpu) echo cpu,training-cpu ;;
        dev) echo cpu,training-cpu,evaluation,dev ;;
        *) return 1 ;;
    esac
}
SETS="dev training-cpu cpu gpu gpu-ray training-gpu"

builds_flash_attn() { [ "$1" = training-gpu ]; }
SDPA="+actor_rollout_ref.model.override_config.attn_implementation=sdpa +critic.model.override_config.attn_implementation=sdpa"

on_cpu() { case $1 in *gpu*) return 1 ;; esac; }

# torch has to be its "+cpu" build there, which the usual registry does not carry: it comes from pip's configured
# find-links if there is one, else from PyTorch's own index.
torch_source() {
    local links=${UV_FIND_LINKS:-${PIP_FIND_LINKS:-$(.venv/bin/python -m pip config get global.find-links 2>/dev/null || true)}}
    if [ -n "$links" ]; then echo "--find-links $links"; else echo "--torch-backend cpu"; fi
}
