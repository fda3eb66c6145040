"""How to continue a partial reply over a chat completions API: the final message continued, or one more turn."""

from typing import Any

from demur.engine.base import Prompt, Resumption, Written


def further(prompt: Prompt, written: Written, resumed: Resumption) -> dict[str, Any]:
    """The fields of a request body that make a host go on with `written`."""
    if resumed == "continued":
        said = _assistant(written, written.closing + written.opening)
        return {
            "messages": [*prompt.messages, said],
            "continue_final_message": True,
            "add_generation_prompt": False,
        }
    asking = {"role": "user", "content": written.request}
    return {
        "messages": [
            *prompt.messages,
            _assistant(Written(written.text), written.closing + written.asked_closing),
            asking,
        ]
    }


def put_behind(written: Written, resumed: Resumption) -> str:
    """What stands in the text between the reply so far and what the host adds to it."""
    return written.closing + (written.opening if resumed == "continued" else f"{written.asked_closing}\n")


def _assistant(written: Written, behind: str) -> dict[str, str]:
    """The reply so far as a message. vLLM gives chat templates that know thought the field for it."""
    message = {"role": "assistant", "content": written.text + behind}
    return message | ({"reasoning": written.thought} if written.thought else {})
