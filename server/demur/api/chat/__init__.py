"""OpenAI's chat completions API: `schemas` of requests, `routes`, and answers as completions, whole (`render`) or as a
stream of chunks (`choice_stream`)."""
