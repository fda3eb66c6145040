"""DSPy, whose adapters ask for JSON."""

import dspy
from case import report

lm = dspy.LM(
    "openai/demur-test",
    api_base=report.url(),
    api_key="unused",
    cache=False,
    num_retries=0,
    response_format={"type": "json_object"},
)


class Extract(dspy.Signature):
    """Who is it, and when were they born?"""

    text: str = dspy.InputField()
    name: str = dspy.OutputField()
    born: int = dspy.OutputField()


with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
    found = dspy.Predict(Extract)(text="Ada Lovelace was born in 1815.")
report("structured", {"name": found.name, "born": found.born})
