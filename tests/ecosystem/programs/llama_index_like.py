"""LlamaIndex's OpenAILike."""

from case import Person, report
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    model="demur-test", api_base=report.url(), api_key="unused", is_chat_model=True, max_retries=0,
    is_function_calling_model=True, should_use_structured_outputs=True,
)  # fmt: skip
reply = llm.chat([ChatMessage(role="user", content="How many legs has a spider?")])
report("answer", reply.message.content, reply.raw.choices[0].demur["confidence"])
report("abstention", llm.chat([ChatMessage(role="user", content="How many legs has a millipede?")]).message.content)
chunks = llm.stream_chat([ChatMessage(role="user", content="How many legs has a spider?")])
report("stream", "".join(chunk.delta or "" for chunk in chunks))
person = llm.structured_predict(Person, PromptTemplate("{text}"), text="Ada Lovelace was born in 1815.")
report("structured", person.model_dump())
