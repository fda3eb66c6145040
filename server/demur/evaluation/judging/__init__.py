"""Right or wrong: by comparing answers, or by asking a judge.

graders.py   one grader for each way to grade      simpleqa.py  the judge of short factual answers
judge.py     a judge model, with cached verdicts   claims.py    the judge of single claims
labels.py    how far a judge agrees with people
"""
