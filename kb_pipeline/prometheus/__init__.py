"""The rule file for people with Prometheus and Alertmanager.

Belongs here: where that file is. Does not: metrics, the alert rules of the pipeline itself.
"""

from pathlib import Path

RULES = Path(__file__).with_name("kb_pipeline.rules.yaml")
