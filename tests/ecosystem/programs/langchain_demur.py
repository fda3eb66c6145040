"""`demur_client.langchain.ChatDemur`: ChatOpenAI with the confidence in the message."""

from case import Person, report

from demur_client.langchain import ChatDemur

chat = ChatDemur(model=report.model(), base_url=report.url(), api_key="unused", risk_threshold=0.5)
message = chat.invoke("How many legs has a spider?")
report("answer", message.content, message.response_metadata["demur"]["confidence"])
message = chat.invoke("How many legs has a millipede?")
report("abstention", message.content, message.response_metadata["demur"]["confidence"])
chunks = list(chat.stream("How many legs has a spider?"))
whole = sum(chunks[1:], start=chunks[0])
report("stream", whole.content, whole.response_metadata["demur"]["confidence"])
found = chat.with_structured_output(Person, include_raw=True).invoke("Ada Lovelace was born in 1815.")
confidences = [field["confidence"] for field in found["raw"].response_metadata["demur"]["fields"]]
report("structured", found["parsed"].model_dump(), confidences)
