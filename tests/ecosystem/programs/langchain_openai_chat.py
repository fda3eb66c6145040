"""LangChain's ChatOpenAI."""

import openai
from case import Person, report
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

chat = ChatOpenAI(model="demur-test", base_url=report.url(), api_key="unused", max_retries=0, max_tokens=4096)
report("answer", chat.invoke("How many legs has a spider?").content)
report("abstention", chat.invoke("How many legs has a millipede?").content)
report("stream", "".join(str(chunk.content) for chunk in chat.stream("How many legs has a spider?")))
for method in ("json_schema", "function_calling"):
    person = chat.with_structured_output(Person, method=method).invoke("Ada Lovelace was born in 1815.")
    report("structured" if method == "json_schema" else "tool", person.model_dump())
call = {"name": "count_legs", "args": {"of": "spider"}, "id": "call_1", "type": "tool_call"}
history = [
    HumanMessage("How many legs has a spider?"),
    AIMessage("", tool_calls=[call]),
    ToolMessage("8", tool_call_id="call_1"),
]
report("history", chat.invoke(history).content)
try:
    chat.invoke("How many legs has a spider?", extra_body={"risk_treshold": 0.3})
except openai.BadRequestError as error:
    report("unknown", error.code, error.param)
