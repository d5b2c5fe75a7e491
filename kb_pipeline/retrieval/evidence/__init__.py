"""What one reviewed draft says for and against documents as answers to its query.

Belongs here: the rules of evidence and their weights. Does not: what evidence comes to (retrieval/labels.py), searches
that belong to no draft, storage.
"""

from kb_pipeline.retrieval.evidence.rules import RULE_VERSION, WEIGHTS, evidence_of, harvest_rules

__all__ = ["RULE_VERSION", "WEIGHTS", "evidence_of", "harvest_rules"]
