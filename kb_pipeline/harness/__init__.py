"""The retrieval harness's side: queries with judgments, exports, evaluation of a ranked run."""
