"""The official client."""

import json

import openai
from case import ASK, DOUBT, PERSON, TOOL_HISTORY, Person, report

report.url()
client = openai.OpenAI(base_url=report.url(), api_key="unused", max_retries=0)
model = client.models.list().data[0].id


def ask(messages, **fields):
    return client.chat.completions.create(model=model, messages=messages, **fields).choices[0]


choice = ask(ASK, max_tokens=4096, stop=["\n\n\n"], frequency_penalty=0.1, seed=2**60, reasoning_effort="low")
report("answer", choice.message.content, choice.demur["confidence"])
choice = ask(DOUBT)
report("abstention", choice.message.content, choice.demur["confidence"])
stream = client.chat.completions.create(model=model, messages=ASK, stream=True)
chunks = [chunk.choices[0] for chunk in stream]
report("stream", "".join(chunk.delta.content or "" for chunk in chunks), chunks[-1].demur["confidence"])
parsed = client.chat.completions.parse(model=model, messages=PERSON, response_format=Person).choices[0]
report("structured", parsed.message.parsed.model_dump(), [field["confidence"] for field in parsed.demur["fields"]])
with client.chat.completions.stream(model=model, messages=PERSON, response_format=Person) as events:
    report("structured_stream", events.get_final_completion().choices[0].message.parsed.model_dump())
tool = openai.pydantic_function_tool(Person, name="save")
forced = ask(PERSON, tools=[tool], tool_choice={"type": "function", "function": {"name": "save"}})
report("tool", json.loads(forced.message.tool_calls[0].function.arguments))
report("history", ask(TOOL_HISTORY).message.content)
report("responses", client.responses.create(model=model, input=ASK[0]["content"]).output_text)
try:
    ask(ASK, extra_body={"risk_treshold": 0.3})
except openai.BadRequestError as error:
    report("unknown", error.code, error.param)
try:
    client.chat.completions.create(model="other", messages=ASK)
except openai.NotFoundError as error:
    report("error", error.code)
