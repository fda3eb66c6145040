"""Putting the questions to an endpoint, and keeping every answer.

base.py      what is asked and what comes back     endpoint.py  one request, with retries
answers.py   our own API                           store.py     responses on disk, safe against a kill
chat.py      any OpenAI-compatible host            runner.py    many requests at once
"""
