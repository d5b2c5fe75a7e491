"""A retriever for tests without a database: passages by the share of the query's longer words that they hold."""

from kb_pipeline.demo.knowledge import load
from kb_pipeline.demo.search import Hit


def overlap(query: str, language: str) -> tuple[Hit, ...]:
    words = {word.strip("?.,:!") for word in query.casefold().split() if len(word) > 4}
    hits = []
    for article in load().articles:
        found = sum(word in article.text.casefold() for word in words)
        if article.language == language and words and found / len(words) >= 0.3:
            hits.append(Hit(doc_id=article.doc_id, text=article.text, score=round(found / len(words), 2)))
    return tuple(sorted(hits, key=lambda hit: -hit.score)[:5])
