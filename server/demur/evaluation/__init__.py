"""Measuring a model: ask, grade, score, draw (paper section 4). It speaks HTTP and imports nothing of the server.

rows.py       the row format, in and out       results.py   rows -> figures, curves, objectives
datasets/     one small file a dataset          report/      tables, figures, one self-contained page
asking/       questions to an endpoint          compare.py   two runs over the same questions
judging/      graders and judges                run.py       one evaluation from start to report
"""
