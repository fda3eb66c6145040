"""Chat completions: the same answers for whoever speaks OpenAI's protocol."""
