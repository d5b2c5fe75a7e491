-- Retrievals of the window, and how many of them found nothing.
SELECT coalesce(sum(retrievals), 0), coalesce(sum(empty), 0)
FROM kb_retrieval_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
