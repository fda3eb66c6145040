"""Wording as a grammar: a question is a core of its family in a carrier, with a notation, sides split by hash."""
