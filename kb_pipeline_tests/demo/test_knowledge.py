"""The demo's knowledge base is what its labels rest on: true values stand in it, false ones do not."""

import re

from kb_pipeline.demo.knowledge import Scope, document_of, load

KNOWLEDGE = load()


def test_there_are_enough_articles_and_answered_questions_in_both_languages() -> None:
    assert len(KNOWLEDGE.articles) >= 60
    assert sum(question.scope is Scope.ANSWERED for question in KNOWLEDGE.questions) >= 120
    assert {article.language for article in KNOWLEDGE.articles} == {"id", "en"}
    assert {question.language for question in KNOWLEDGE.questions} == {"id", "en"}


def test_keys_are_unique() -> None:
    facts = [f"{article.doc_id}#{fact.key}" for article in KNOWLEDGE.articles for fact in article.facts]
    assert len(facts) == len(set(facts))
    assert len(KNOWLEDGE.by_question) == len(KNOWLEDGE.questions)
    assert len(KNOWLEDGE.by_doc) == len(KNOWLEDGE.articles)


def test_an_answered_question_names_facts_of_its_own_language_and_any_other_names_none() -> None:
    for question in KNOWLEDGE.questions:
        assert bool(question.facts) == (question.scope is Scope.ANSWERED), question.key
        for reference in question.facts:
            assert reference in KNOWLEDGE.by_fact
            assert KNOWLEDGE.by_doc[document_of(reference)].language == question.language, question.key


def test_a_follow_up_names_a_question_with_an_answer_and_says_what_it_means_alone() -> None:
    follow_ups = [question for question in KNOWLEDGE.questions if question.after]
    assert follow_ups
    for question in follow_ups:
        assert question.standalone
        before = KNOWLEDGE.by_question[question.after or ""]
        assert before.language == question.language
        assert before.facts


def test_the_article_and_the_answer_state_the_same_value() -> None:
    for reference, fact in KNOWLEDGE.by_fact.items():
        assert (fact.value is None) == (fact.changed is None), reference
        assert fact.passage.count("{}") == fact.answer.count("{}") == int(fact.value is not None), reference
        assert fact.value is None or (fact.value in fact.sentence and fact.value in fact.paraphrase)


def test_a_changed_value_stands_nowhere_in_its_article() -> None:
    changed = 0
    for article in KNOWLEDGE.articles:
        for fact in article.facts:
            if fact.changed:
                changed += 1
                assert fact.changed.casefold() not in article.text.casefold(), (article.doc_id, fact.key)
    assert changed >= 120


def test_no_article_supports_an_unsupported_claim() -> None:
    for claim in KNOWLEDGE.claims:
        words = set(re.findall(r"\w{4,}", claim.text.casefold()))
        for article in KNOWLEDGE.articles:
            for fact in article.facts:
                said = set(re.findall(r"\w{4,}", fact.sentence.casefold()))
                assert len(words & said) <= 0.5 * len(words), (claim.text, article.doc_id, fact.key)


def test_an_article_and_a_question_mention_the_template_s_markers() -> None:
    assert any("HASIL ALAT:" in article.text and "[RAG-2] (skor" in article.text for article in KNOWLEDGE.articles)
    assert any("HASIL ALAT:" in question.text for question in KNOWLEDGE.questions)
    assert any("PERTANYAAN:" in question.text for question in KNOWLEDGE.questions)
