"""`python -m kb_pipeline.cli`, the same as `kb-pipeline`."""

from kb_pipeline.cli import main

main()
