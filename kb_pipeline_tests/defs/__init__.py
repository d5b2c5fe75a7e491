"""The room kb_pipeline/defs."""
