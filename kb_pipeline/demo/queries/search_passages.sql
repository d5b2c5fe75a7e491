-- The passages that share words with a query, best first. A passage's score is the share of the query's weight that it
-- covers, between 0 and 1; a word weighs the more, the fewer passages hold it (inverse document frequency), and words
-- that only make a sentence a question weigh nothing.
WITH collection AS MATERIALIZED (
  SELECT doc_id, body, words FROM upstream.kb_passage_index WHERE language = %(language)s
), asked AS (
  SELECT quote_literal(lexeme)::tsquery AS word
  FROM unnest(to_tsvector(%(configuration)s::regconfig, %(query)s))
  WHERE lexeme NOT IN (SELECT lexeme FROM unnest(to_tsvector(%(configuration)s::regconfig, %(question_words)s)))
), weighed AS (
  SELECT word, ln(1 + (SELECT count(*) FROM collection) / (1.0 + (SELECT count(*) FROM collection WHERE words @@ word))) AS weight
  FROM asked
), scored AS (
  SELECT doc_id, body,
    (SELECT sum(weight) FILTER (WHERE words @@ word) / sum(weight) FROM weighed) AS score,
    ts_rank_cd(words, plainto_tsquery(%(configuration)s::regconfig, %(query)s)) AS closeness
  FROM collection
)
SELECT doc_id, body, round(score::numeric, 2)::float8
FROM scored
WHERE score >= %(least)s
ORDER BY score DESC, closeness DESC, doc_id
LIMIT %(top_k)s
