-- How much the retrieval street holds, by what is counted and its class.
SELECT 'events' AS counted, 'retrieval' AS class, count(*)::int FROM kb_retrieval_event
UNION ALL
SELECT 'events', 'search', count(*)::int FROM kb_search_event
UNION ALL
SELECT 'outcomes', outcome, count(*)::int FROM kb_draft_outcome GROUP BY outcome
UNION ALL
SELECT 'ground_truth', coalesce(grade::text, status), count(*)::int FROM kb_ground_truth GROUP BY coalesce(grade::text, status)
UNION ALL
SELECT 'tasks', kind, count(*)::int FROM kb_gap_task GROUP BY kind
