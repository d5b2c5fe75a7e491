-- Events of both kinds that the worker has kept, conflicts included.
SELECT
  (SELECT count(*) FROM kb_retrieval_event)
  + (SELECT count(*) FROM kb_search_event)
  + (SELECT count(*) FROM kb_retrieval_event_conflict)
