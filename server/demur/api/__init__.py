"""HTTP: schemas and routes around an Answerer. Importing starts nothing; `demur.api.app.create_app` builds an app."""
