"""What the users of today's clients see: an answer, an abstention, a stream, JSON, a forced tool, an error."""

import pytest

pytestmark = pytest.mark.ecosystem

ANSWER = "It is an arachnid.\n\nAnswer: 8"
ABSTENTION = "I abstain: the confidence is 0.21, below your risk threshold of 0.5."
PERSON = {"name": "Ada Lovelace", "born": 1815}
SURE = [0.97, 0.64]
EXPECTED = {
    "answer": [ANSWER, 0.93],
    "abstention": [ABSTENTION, 0.21],
    "stream": [ANSWER, 0.93],
    "structured": [PERSON, SURE],
    "tool": [PERSON, SURE],
    "history": [ANSWER],
    "responses": [ANSWER],
    "unknown": ["unknown_parameter", "risk_treshold"],
    "error": ["model_not_found"],
}
"""What a program may report: confidences come last, from clients that have a place for them."""
PROGRAMS = {
    "openai_python": {*EXPECTED},
    "langchain_openai_chat": {"answer", "abstention", "stream", "structured", "tool", "history", "unknown"},
    "langchain_demur": {"answer", "abstention", "stream", "structured"},
    "instructor_openai": {"structured", "tool"},
    "litellm_sdk": {"answer", "abstention", "stream", "structured", "tool", "history", "unknown"},
}
MORE = {
    "pydantic_ai_agent": {"answer", "abstention", "tool"},
    "openai_agents_sdk": {"answer", "abstention", "structured"},
    "llama_index_like": {"answer", "abstention", "stream", "structured"},
    "dspy_predict": {"structured"},
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_users_see(run, program) -> None:
    check(run(program), PROGRAMS[program])


@pytest.mark.more_clients
@pytest.mark.parametrize("program", MORE)
def test_what_users_of_more_clients_see(run, program) -> None:
    check(run(program), MORE[program])


def check(seen: dict, names: set[str]) -> None:
    assert seen.keys() == names
    for name, values in seen.items():
        if name == "unknown" and values == [400]:  # a client that tells the status alone
            continue
        assert values == EXPECTED[name][: len(values)]
        assert values
