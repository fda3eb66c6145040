"""Problems whose difficulty is known by construction: arithmetic of growing size, words around it, and the unknowable.

`problem` holds the values, `families` and its neighbours draw them, `splits` keeps rewordings of one problem together,
`mix` says how many of each, `steps` and `reasons` check claims exactly, without a judge.
"""
