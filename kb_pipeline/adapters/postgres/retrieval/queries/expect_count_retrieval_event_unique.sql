-- Events of the hour that share an id, or a message.
SELECT
  count(*) FILTER (WHERE of_id > 1) AS rows_that_share_an_id,
  count(*) FILTER (WHERE message_id IS NOT NULL AND of_message > 1) AS rows_that_share_a_message
FROM (
  SELECT message_id, count(*) OVER (PARTITION BY id) AS of_id, count(*) OVER (PARTITION BY message_id) AS of_message
  FROM kb_retrieval_event
  WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
) AS event
