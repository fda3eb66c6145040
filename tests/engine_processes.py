"""vLLM's engine processes, as seen from outside the server that started them."""

import psutil


def engines_of(server: psutil.Process) -> list[psutil.Process]:
    """Those that run below `server`; none once it ended.

    Not by the title that vLLM gives them: none is set where the first variable of the environment was changed before
    (setproctitle then finds no room for it), and which one comes first is chance below Ray.
    """
    try:
        return [child for child in server.children(recursive=True) if _is_engine(child)]
    except psutil.NoSuchProcess:
        return []


def _is_engine(process: psutil.Process) -> bool:
    """vLLM spawns them by `multiprocessing`, and nothing else of this project spawns anything so."""
    try:
        command = process.cmdline()
    except psutil.Error:  # it ended meanwhile
        return False
    return "--multiprocessing-fork" in command or command[:1] == ["VLLM::EngineCore"]
