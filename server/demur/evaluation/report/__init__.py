"""One run on paper: figures and a self-contained page."""
