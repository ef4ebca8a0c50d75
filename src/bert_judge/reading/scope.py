"""What a judge knows, and which samples lie outside of that."""

from __future__ import annotations

from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.reading.evidence import LANGUAGES, find_foreign
from bert_judge.records import Sample


@dataclass(frozen=True, slots=True)
class Scope:
    """What a judge knows: stored in `judge.json`; it changes no score.

    `languages` are the codes of those that it reads ("en"; none: nothing is said of languages), `reference_words` the
    most words of a reference (None: nothing is said). Raises InputError for a language that can't be told from others.
    """

    languages: tuple[str, ...] = ()
    reference_words: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", tuple(self.languages))
        unknown = [code for code in self.languages if code not in LANGUAGES]
        if unknown:
            raise InputError(f"the language {unknown[0]!r} can't be told from others; known: {', '.join(LANGUAGES)}.")
        if self.reference_words is not None and self.reference_words < 1:
            raise InputError(f"reference_words is {self.reference_words}; a number of at least 1 was expected.")

    def outside(self, sample: Sample) -> str | None:
        """Why a sample lies outside of this ("in German", "in Cyrillic script"), None if it does not.

        Of several references, which are alternatives, all have to.
        """
        if self.languages:
            references = [find_foreign(text, self.languages) for text in sample.references]
            found = find_foreign(sample.candidate, self.languages) or (all(references) and references[0])
            found = found or find_foreign(sample.question or "", self.languages)
            if found:
                return f"in {found}"
        most = self.reference_words
        if most and all(len(text) > 2 * most and len(text.split()) > most for text in sample.references):
            return f"with a reference of over {most} words"
        return None
