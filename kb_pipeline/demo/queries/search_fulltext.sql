-- The passages of one tenant and language that share words with each query, best first, with the share of the query's
-- weight that they cover, between 0 and 1. A word weighs the more, the fewer passages hold it (inverse document
-- frequency), or like any other where words are not weighed; words that only make a sentence a question weigh nothing.
WITH collection AS MATERIALIZED (
  SELECT doc_id, CASE WHEN %(titles_only)s THEN title_words ELSE words END AS words
  FROM upstream.kb_passage_index
  WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND language = %(language)s
), asked AS MATERIALIZED (
  SELECT DISTINCT query, quote_literal(lexeme)::tsquery AS word
  FROM unnest(%(queries)s::text[]) AS query
  CROSS JOIN LATERAL unnest(to_tsvector(%(configuration)s::regconfig, query))
  WHERE lexeme NOT IN (SELECT lexeme FROM unnest(to_tsvector(%(configuration)s::regconfig, %(question_words)s)))
), weighed AS MATERIALIZED (
  SELECT
    a.word,
    CASE WHEN %(weighed)s THEN ln(1 + count(*) / (1.0 + count(*) FILTER (WHERE c.words @@ a.word))) ELSE 1 END AS weight
  FROM (SELECT DISTINCT word FROM asked) AS a CROSS JOIN collection AS c
  GROUP BY a.word
), whole AS (
  SELECT query, sum(weight) AS weight FROM asked JOIN weighed USING (word) GROUP BY query
), covered AS (
  SELECT a.query, c.doc_id, sum(w.weight) AS weight
  FROM asked AS a
  JOIN weighed AS w USING (word)
  JOIN collection AS c ON c.words @@ a.word
  GROUP BY a.query, c.doc_id
)
SELECT c.query, c.doc_id, (c.weight / q.weight)::float8 AS score
FROM covered AS c
JOIN whole AS q USING (query)
JOIN collection AS p USING (doc_id)
ORDER BY c.query, score DESC, ts_rank_cd(p.words, plainto_tsquery(%(configuration)s::regconfig, c.query)) DESC, c.doc_id
