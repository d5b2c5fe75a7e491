"""x"""
from kb_pipeline.grading.opinion.record import Kind, Opinion
from kb_pipeline.grading.opinion.opinion import second_opinion
