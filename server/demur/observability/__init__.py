"""What a server tells its operators: Prometheus metrics and log lines. Neither holds text of prompts or answers unless
`log_text` is set. Traces are in `demur.tracing`.

metrics.py      all metrics of one app             logs.py         log lines and their formats
http.py         requests and their latency         answers.py      decisions, confidences, tokens
admission.py    capacity, queue, refusals          engine.py       the engine, its hosts, grading and keys
"""
