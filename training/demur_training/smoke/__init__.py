"""The end-to-end smoke test: a toy task trained, exported, served and evaluated."""
