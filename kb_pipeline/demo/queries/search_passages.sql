-- The passages that share words with a query, best first. A passage's score is the share of the query's weight that it
-- covers, between 0 and 1; a word weighs the more, the fewer passages hold it (inverse document frequency), and words
-- that only make a sentence a question weigh nothing.
WITH collection AS MATERIALIZED (
  SELECT doc_id, body, words FROM upstream.kb_passage_index WHERE language = %(language)s
), asked AS MATERIALIZED (
  SELECT quote_literal(lexeme)::tsquery AS word
  FROM unnest(to_tsvector(%(configuration)s::regconfig, %(query)s))
  WHERE lexeme NOT IN (SELECT lexeme FROM unnest(to_tsvector(%(configuration)s::regconfig, %(question_words)s)))
), weighed AS MATERIALIZED (
  SELECT a.word, ln(1 + count(*) / (1.0 + count(*) FILTER (WHERE c.words @@ a.word))) AS weight
  FROM asked AS a CROSS JOIN collection AS c
  GROUP BY a.word
), covered AS (
  SELECT c.doc_id, sum(w.weight) FILTER (WHERE c.words @@ w.word) / sum(w.weight) AS score
  FROM collection AS c CROSS JOIN weighed AS w
  GROUP BY c.doc_id
)
SELECT doc_id, body, round(score::numeric, 2)::float8
FROM covered JOIN collection USING (doc_id)
WHERE score >= %(least)s
ORDER BY score DESC, ts_rank_cd(words, plainto_tsquery(%(configuration)s::regconfig, %(query)s)) DESC, doc_id
LIMIT %(top_k)s
