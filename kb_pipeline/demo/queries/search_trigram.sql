-- The passages of one tenant and language that share trigrams with each query, best first, with the share of the query's
-- weight that they cover, between 0 and 1; a trigram weighs the more, the fewer passages hold it.
WITH collection AS MATERIALIZED (
  SELECT doc_id, unnest(upstream.show_trgm(body)) AS trigram
  FROM upstream.kb_passage_index
  WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND language = %(language)s
), held AS MATERIALIZED (
  SELECT trigram, count(*) AS passages FROM collection GROUP BY trigram
), asked AS MATERIALIZED (
  SELECT
    query,
    trigram,
    ln(1 + (SELECT count(DISTINCT doc_id) FROM collection) / (1.0 + coalesce(h.passages, 0)))::float8 AS weight
  FROM unnest(%(queries)s::text[]) AS query
  CROSS JOIN LATERAL unnest(upstream.show_trgm(query)) AS trigram
  LEFT JOIN held AS h USING (trigram)
), whole AS (
  SELECT query, sum(weight) AS weight FROM asked GROUP BY query
), covered AS (
  SELECT a.query, c.doc_id, sum(a.weight) AS weight FROM asked AS a JOIN collection AS c USING (trigram) GROUP BY a.query, c.doc_id
)
SELECT c.query, c.doc_id, c.weight / q.weight AS score
FROM covered AS c JOIN whole AS q USING (query)
ORDER BY c.query, score DESC, c.doc_id
