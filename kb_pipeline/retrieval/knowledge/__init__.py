"""What a tenant's knowledge base says at a time, and how far it supports one sentence.

Belongs here: the index over a tenant's chunks in all their versions, the support of a sentence by a chunk. Does not:
what support proves for a query, reading chunks from a database.
"""

from kb_pipeline.retrieval.knowledge.index import MOST_READ, KnowledgeIndex, Supported
from kb_pipeline.retrieval.knowledge.scoring import NOTHING_BELOW, SUPPORTED_FROM
from kb_pipeline.retrieval.knowledge.statements import forms, replaces_word, telling_words, title_key, told_forms

__all__ = [
    "MOST_READ",
    "NOTHING_BELOW",
    "SUPPORTED_FROM",
    "KnowledgeIndex",
    "Supported",
    "forms",
    "replaces_word",
    "telling_words",
    "title_key",
    "told_forms",
]
