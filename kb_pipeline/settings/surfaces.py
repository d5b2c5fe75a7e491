"""How the prompt template of one surface is recognised and taken apart.

Belongs here: markers and phrases, with the public chatbot's as defaults. Does not: the extraction itself.
"""

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from kb_pipeline.settings.values import DistinctList, Marker, PassagePattern, Section, Text, compiled

if TYPE_CHECKING:
    from kb_pipeline.grading.extraction import SurfaceTemplate

PASSAGE_PATTERN = r"\[RAG-(?P<rank>\d+)\]\s*\(skor\s*(?P<score>[0-9.,]+)\)"

# Openings of an honest fallback. They are compared after case, spaces, punctuation and markdown were levelled.
REFUSAL_PHRASES = (
    "Maaf, informasi tersebut tidak tersedia",
    "Maaf, informasi tersebut belum tersedia",
    "Maaf, informasi yang Anda cari tidak",
    "Maaf, informasi mengenai hal tersebut tidak",
    "Maaf, saya tidak menemukan",
    "Maaf, saya belum menemukan",
    "Maaf, saya tidak dapat menemukan",
    "Maaf, saya tidak memiliki informasi",
    "Maaf, saya belum memiliki informasi",
    "Maaf, saya tidak dapat menjawab",
    "Maaf, saya belum dapat menjawab",
    "Maaf, saya tidak bisa menjawab",
    "Maaf, saya belum bisa menjawab",
    "Maaf, saya tidak dapat membantu",
    "Maaf, tidak ada informasi",
    "Mohon maaf, informasi tersebut tidak tersedia",
    "Mohon maaf, informasi tersebut belum tersedia",
    "Mohon maaf, informasi yang Anda cari tidak",
    "Mohon maaf, saya tidak menemukan",
    "Mohon maaf, saya belum menemukan",
    "Mohon maaf, saya tidak dapat menemukan",
    "Mohon maaf, saya tidak memiliki informasi",
    "Mohon maaf, saya belum memiliki informasi",
    "Mohon maaf, saya tidak dapat menjawab",
    "Mohon maaf, saya belum dapat menjawab",
    "Mohon maaf, tidak ada informasi",
    "Informasi tersebut tidak tersedia",
    "Informasi tersebut tidak ditemukan",
    "Informasi yang Anda cari tidak tersedia",
    "Informasi yang Anda cari tidak ditemukan",
    "Saya tidak menemukan informasi",
    "Saya tidak memiliki informasi",
    "Tidak ada informasi",
    "Tidak ditemukan informasi",
    "Sorry, I could not find",
    "Sorry, I couldn't find",
    "Sorry, I do not have",
    "Sorry, I don't have",
    "Sorry, I cannot answer",
    "Sorry, I can't answer",
    "Sorry, that information is not available",
    "Sorry, this information is not available",
    "I'm sorry, but I",
    "I am sorry, but I",
    "I could not find",
    "I couldn't find",
    "I do not have information",
    "I don't have information",
    "I do not have enough information",
    "I don't have enough information",
    "There is no information",
    "That information is not available",
    "This information is not available",
    "No information was found",
)


class SurfaceSettings(Section):
    """The template of one surface; each key left out has the public chatbot's value."""

    synthesis_markers: DistinctList[Text] = ("Susun jawaban", "HASIL ALAT")
    """All of them occur in the system message of a synthesis call."""
    question_marker: Marker = "PERTANYAAN:"
    """The question stands after it."""
    context_marker: Marker = "HASIL ALAT:"
    """The retrieved context stands after it."""
    passage_pattern: PassagePattern = PASSAGE_PATTERN
    """The header of one retrieved passage; its groups rank and score are read."""
    refusal_phrases: DistinctList[Text] = REFUSAL_PHRASES
    """An answer that opens with one of them is a refusal."""

    @model_validator(mode="after")
    def _markers_can_tell_sections_apart(self) -> Self:
        if not self.synthesis_markers:
            raise ValueError(
                "at least one entry of synthesis_markers is accepted, or every call would count as a synthesis"
            )
        if self.question_marker.strip().casefold() == self.context_marker.strip().casefold():
            raise ValueError("question_marker and context_marker are the same; two different ones are accepted")
        first, second = sorted((self.question_marker.strip().casefold(), self.context_marker.strip().casefold()))
        if second.startswith(first):
            raise ValueError(
                "question_marker and context_marker begin alike; two of which neither is the beginning of the other "
                "are accepted"
            )
        return self

    def template(self, name: str) -> "SurfaceTemplate":
        """What the extractor needs to read the prompts of the surface called `name`."""
        # Imported here: reading a configuration does not need the extractor.
        from kb_pipeline.grading.extraction import SurfaceTemplate  # noqa: PLC0415

        return SurfaceTemplate(
            surface=name,
            synthesis_markers=self.synthesis_markers,
            question_marker=self.question_marker,
            context_marker=self.context_marker,
            passage_pattern=compiled(self.passage_pattern),
            refusal_phrases=self.refusal_phrases,
        )
