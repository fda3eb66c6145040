"""What the users of today's clients see: an answer, an abstention, a stream, JSON, a forced tool, an error."""

import pytest

from client_programs import NODE, OWN, Run, Seen

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(480)]

ANSWER = "It is an arachnid.\n\nAnswer: 8"
ABSTENTION = "I abstain: the confidence is 0.21, below your risk threshold of 0.5."
PERSON = {"name": "Ada Lovelace", "born": 1815}
SURE = [0.97, 0.64]
EXPECTED = {
    "answer": [ANSWER, 0.93],
    "abstention": [ABSTENTION, 0.21],
    "stream": [ANSWER, 0.93],
    "structured": [PERSON, SURE],
    "structured_stream": [PERSON],
    "tool": [PERSON, SURE],
    "history": [ANSWER],
    "responses": [ANSWER],
    "unknown": ["unknown_parameter", "risk_treshold"],
    "error": ["model_not_found"],
    "benchmark": [0.5],
    "load": [10, 0],
}
"""What a program may report: confidences come last, from clients that have a place for them."""
CHAT = {"answer", "abstention", "stream", "structured", "tool", "history", "unknown"}
PROGRAMS = {
    "openai_python": {*EXPECTED} - {"benchmark", "load"},
    "langchain_openai_chat": CHAT,
    "langchain_demur": {"answer", "abstention", "stream", "structured"},
    "instructor_openai": {"structured", "tool"},
    "litellm_sdk": CHAT,
}
MORE = {
    ("", "pydantic_ai_agent"): {"answer", "abstention", "tool"},
    ("", "openai_agents_sdk"): {"answer", "abstention", "structured"},
    ("", "llama_index_like"): {"answer", "abstention", "stream", "structured"},
    ("", "dspy_predict"): {"structured"},
    (NODE, "openai"): {*EXPECTED} - {"benchmark", "load"},
    (NODE, "ai_sdk"): CHAT | {"structured_stream", "error"},
    ("litellm-proxy", "litellm_proxy"): CHAT | {"error"},
    ("llm", "llm_cli"): {"answer", "abstention", "stream", "structured", "error"},
    ("lm-eval", "lm_eval_chat"): {"benchmark"},
    (OWN, "vllm_bench_serve"): {"load"},
}
"""By environment and program."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_users_see(run: Run, program: str) -> None:
    check(run(program), PROGRAMS[program])


@pytest.mark.more_clients
@pytest.mark.parametrize(("environment", "program"), list(MORE))
def test_what_users_of_more_clients_see(run: Run, environment: str, program: str) -> None:
    check(run(program, environment), MORE[environment, program])


def check(seen: Seen, names: set[str]) -> None:
    assert seen.keys() == names
    for name, values in seen.items():
        if name == "unknown" and values == [400]:  # a client that tells the status alone
            continue
        assert values == EXPECTED[name][: len(values)]
        assert values
