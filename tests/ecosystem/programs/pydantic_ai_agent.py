"""pydantic-ai."""

from case import Person, report
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel("demur-test", provider=OpenAIProvider(base_url=report.url(), api_key="unused"))
agent = Agent(model)
report("answer", agent.run_sync("How many legs has a spider?").output)
report("abstention", agent.run_sync("How many legs has a millipede?").output)
person = Agent(model, output_type=Person).run_sync("Ada Lovelace was born in 1815.").output
report("tool", person.model_dump())
