"""TypeScript made of headless tools: what ``farside types`` writes."""

from farside.typegen.file import generate

__all__ = ["generate"]
