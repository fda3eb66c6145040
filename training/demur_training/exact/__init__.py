"""The exact form of the confidence reward, expected instead of sampled, and its training loop."""
