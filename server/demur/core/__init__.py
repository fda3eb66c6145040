"""The pure core: values in, values out. Nothing here does I/O or imports a web, model or training library."""
