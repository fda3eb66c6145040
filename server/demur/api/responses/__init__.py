"""OpenAI's responses API without stored responses: `schemas` of requests, `routes`, and answers as output `items`,
whole or as server-sent events (`render`)."""
