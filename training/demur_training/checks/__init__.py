"""What can be known before a run starts: preflight, doctor, resource estimate."""
