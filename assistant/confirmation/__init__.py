"""Confirmation: ask a person before something risky happens, and judge the answer.

Start with `witness`, which judges spoken, typed and phone answers, and `forms`, which contains the
words for yes and no in each language.
"""
