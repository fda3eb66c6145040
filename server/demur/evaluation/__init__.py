"""Measuring a model: ask, grade, score, draw (arXiv:2512.19920, section 4). It speaks HTTP and knows no server code.

run_config.py   the settings of a run, each once         asking/         requests to an endpoint
run.py          one evaluation from start to report      judging/        graders and judges
run_manifest.py what a run folder says of itself         datasets/       one small file a dataset
rows.py         the row format                           results.py      rows -> figures, curves, objectives
row_files.py    rows as people have them                 report/         tables, figures, one self-contained page
columns.py      what columns are called                  compare.py      two runs over the same questions
"""
