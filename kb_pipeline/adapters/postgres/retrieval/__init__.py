"""The retrieval street's tables and the views it reads.

Belongs here: one module per table or view, each with its named SQL in queries/. Does not: decisions.
"""
