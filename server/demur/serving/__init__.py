"""`demur serve`: from options to a server that runs until it is stopped or its engine dies."""
