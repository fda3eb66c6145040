"""What breaks servers, done to this one: `make soak`, or one scenario with `python -m bench soak --only streams`."""
