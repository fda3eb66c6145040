"""openai-agents, over the responses API."""

from agents import Agent, AsyncOpenAI, OpenAIResponsesModel, Runner, set_tracing_disabled
from case import Person, report

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=report.url(), api_key="unused", max_retries=0)
model = OpenAIResponsesModel(model="demur-test", openai_client=client)
agent = Agent(name="plain", instructions="Be brief.", model=model)
report("answer", Runner.run_sync(agent, "How many legs has a spider?").final_output)
report("abstention", Runner.run_sync(agent, "How many legs has a millipede?").final_output)
typed = Agent(name="typed", model=model, output_type=Person)
report("structured", Runner.run_sync(typed, "Ada Lovelace was born in 1815.").final_output.model_dump())
