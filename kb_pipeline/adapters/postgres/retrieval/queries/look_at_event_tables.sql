-- Nothing, where the tables of events are there and may be read.
SELECT FROM kb_retrieval_event, kb_search_event, kb_retrieval_event_conflict LIMIT 0
