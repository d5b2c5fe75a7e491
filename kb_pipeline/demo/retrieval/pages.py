"""Pages that a knowledge base has beside its articles: leaflets that repeat them, news and lists that only sound alike.

Belongs here: the texts of these pages. Does not: the articles, which desk has which pages.
"""

from collections.abc import Iterator, Sequence

from kb_pipeline.demo.knowledge import Article, Question
from kb_pipeline.demo.retrieval.world import Document, Point
from kb_pipeline.demo.traffic.plan import dice

LEAFLETS = {"id": "Ringkasan layanan", "en": "At a glance"}
LISTS = {"id": "Pertanyaan yang sering masuk", "en": "Questions we often get"}
LIST_ENDS = {"id": "Balasan petugas menyusul lewat surel.", "en": "Staff will reply to the sender by mail."}
CITIES = ("Padang", "Semarang", "Makassar", "Manado", "Pontianak", "Denpasar", "Kupang", "Ambon", "Medan", "Palembang")
NEWS = {
    "id": (
        (
            "{title} dibahas dalam sosialisasi di {city}.",
            "Peserta menanyakan biaya, syarat, dan lama prosesnya.",
            "Pemateri menjelaskan alurnya satu per satu sampai sore.",
        ),
        (
            "Kantor di {city} membuka gerai konsultasi tentang {title}.",
            "Pengunjung boleh bertanya soal tarif, tenggat, dan berkas yang perlu disiapkan.",
            "Gerai itu ramai sejak pagi.",
        ),
        (
            "Rekaman webinar {title} sudah dapat ditonton ulang.",
            "Narasumber dari {city} mengulas kesalahan yang sering terjadi ketika permohonan diajukan.",
        ),
    ),
    "en": (
        (
            "{title} was the subject of a seminar in {city}.",
            "The audience asked about fees, deadlines and how long the process takes.",
            "Speakers walked through the steps until the afternoon.",
        ),
        (
            "The office in {city} opened a counter for advice on {title}.",
            "Visitors may ask what it costs, when to apply and which documents to bring.",
            "The counter was busy from the first morning.",
        ),
        (
            "The recording of the webinar on {title} can be watched again.",
            "A speaker from {city} went through mistakes that applicants often make.",
        ),
    ),
}
NEWS_TITLES = {"id": "Kabar {city}: {title}", "en": "News from {city}: {title}"}
# How many news items go with an article, and which share of the questions stands in the lists.
NEWS_PER_ARTICLE = 2
LISTED_SHARE = 0.5

Page = tuple[Document, tuple[Point, ...]]


def pages(articles: Sequence[Article], questions: Sequence[Question]) -> Iterator[Page]:
    """The pages beside these articles, each with the points that it alone makes; the same for the same articles."""
    topics = {article.doc_id: article.topic for article in articles}
    for topic in dict.fromkeys(topics.values()):
        group = [article for article in articles if article.topic == topic]
        if len(group) > 1:
            yield _leaflet(topic, group), ()
        about = [q for q in questions if any(topics.get(fact.partition("#")[0]) == topic for fact in q.facts)]
        listed = [q for q in about if dice("listed", q.key).random() < LISTED_SHARE]
        if listed:
            yield _list(topic, listed)
    for article in articles:
        for number in range(NEWS_PER_ARTICLE):
            yield _news(article, number)


def _leaflet(topic: str, group: Sequence[Article]) -> Document:
    """The first sentence of each article of a topic."""
    language = group[0].language
    title = f"{LEAFLETS[language]}: {topic}"
    return Document(
        doc_id=f"leaflet-{language}-{topic}",
        language=language,
        title=title,
        text=f"{title}. " + " ".join(article.facts[0].sentence for article in group),
        points=tuple(f"{article.doc_id}#{article.facts[0].key}" for article in group),
    )


def _list(topic: str, listed: Sequence[Question]) -> Page:
    """Questions without their answers: they share every word with who asks, and nothing of them can be quoted."""
    language = listed[0].language
    title = f"{LISTS[language]}: {topic}"
    sentences = [title + ".", *(question.query for question in listed), LIST_ENDS[language]]
    document = Document(
        doc_id=f"asked-{language}-{topic}", language=language, title=title, text=" ".join(sentences), points=()
    )
    return document, ()


def _news(article: Article, number: int) -> Page:
    """An event about the subject of an article, which answers nothing."""
    random = dice("news", article.doc_id, number)
    city = random.choice(CITIES)
    words = {"city": city, "title": article.title}
    sentences = [sentence.format(**words) for sentence in random.choice(NEWS[article.language])]
    title = NEWS_TITLES[article.language].format(**words)
    doc_id = f"news-{article.doc_id}-{number}"
    said = tuple(Point(key=f"{doc_id}#{i}", ways=(sentence,)) for i, sentence in enumerate(sentences))
    document = Document(
        doc_id=doc_id,
        language=article.language,
        title=title,
        text=f"{title}. " + " ".join(sentences),
        points=tuple(point.key for point in said),
    )
    return document, said
