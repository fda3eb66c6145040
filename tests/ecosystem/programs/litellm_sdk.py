"""LiteLLM's SDK."""

import json

import litellm
from case import ASK, DOUBT, PERSON, TOOL_HISTORY, Person, report


def ask(messages, **fields):
    return litellm.completion(
        model=f"openai/{report.model()}",
        api_base=report.url(),
        api_key="unused",
        messages=messages,
        num_retries=0,
        **fields,
    )


choice = ask(ASK).choices[0]
report("answer", choice.message.content, choice.provider_specific_fields["demur"]["confidence"])
report("abstention", ask(DOUBT).choices[0].message.content)
report("stream", "".join(chunk.choices[0].delta.content or "" for chunk in ask(ASK, stream=True)))
report("structured", json.loads(ask(PERSON, response_format=Person).choices[0].message.content))
tool = {"type": "function", "function": {"name": "save", "parameters": Person.model_json_schema()}}
forced = ask(PERSON, tools=[tool], tool_choice={"type": "function", "function": {"name": "save"}})
report("tool", json.loads(forced.choices[0].message.tool_calls[0].function.arguments))
report("history", ask(TOOL_HISTORY).choices[0].message.content)
try:
    ask(ASK, extra_body={"risk_treshold": 0.3})
except litellm.BadRequestError as error:
    report("unknown", error.status_code)
