"""What people type: `demur feedback` and `demur grade`, over HTTP. Nothing here needs a database."""
