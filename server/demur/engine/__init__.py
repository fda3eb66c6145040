"""The one narrow port to a model, and what stands behind it."""
