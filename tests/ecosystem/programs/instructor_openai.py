"""instructor, plain and with `demur_client.instructor`."""

import instructor
import openai
from case import PERSON, Person, report

from demur_client.instructor import confidences

plain = openai.OpenAI(base_url=report.url(), api_key="unused", max_retries=0)
for mode, name in ((instructor.Mode.TOOLS, "tool"), (instructor.Mode.JSON_SCHEMA, "structured")):
    client = instructor.from_openai(plain, mode=mode)
    person, completion = client.chat.completions.create_with_completion(
        model="demur-test", messages=PERSON, response_model=Person, max_retries=0
    )
    report(name, person.model_dump(), list(confidences(completion).values()))
