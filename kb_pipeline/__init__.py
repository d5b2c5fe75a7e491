"""Answer quality of a RAG chatbot from its audit trail, and retrieval ground truth from expert corrections."""
