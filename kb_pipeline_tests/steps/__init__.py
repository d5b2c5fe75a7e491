"""The room kb_pipeline/steps."""
