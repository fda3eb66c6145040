"""Keeping what was answered, having it graded, and watching for drift.

draws.py        which answers are to be graded: two random samples   record.py    an answer as it is kept
tables.py       the tables           database.py  connections and migrations      migrations/  their versions
writer.py       behind the reply: a bounded queue and a thread       answers.py   rows in, rows out, retention
leases.py       who grades what now  grades.py    verdicts and their history      watching.py  the drift test's state
summary.py      counts, agreement    refits.py    rows for demur calibrate        service.py   all of it for the API
shadows.py      what another calibrator would have decided
options.py      what operators choose            metrics.py   for Prometheus         opening.py   from the settings
commands/       demur feedback, demur grade

Nothing here is imported by a server that keeps nothing.
"""
