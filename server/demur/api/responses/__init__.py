"""Responses: the plain part of OpenAI's responses API, without a memory."""
