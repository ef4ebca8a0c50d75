"""`bert-judge try`: judge one answer from the command line, and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from bert_judge.cli import log_shown, say
from bert_judge.cli.flags import Argument, FormatOptions, Parser, options_from
from bert_judge.cli.judging import JUDGE_FAILED, add_judges
from bert_judge.cli.show import legend, row_examples, row_lines, row_record
from bert_judge.errors import InputError
from bert_judge.judges.occlusion import explain
from bert_judge.records import Row, Sample
from bert_judge.report.document import Document
from bert_judge.studies.score import judged_records

_EXAMPLES = """examples:
  bert-judge try "What is the capital of Peru?" Lima "It is Lima."
  bert-judge try "Who wrote it?" "Mary Shelley" "M. Shelley" "It was Shelley."   # several references, then the answer
  bert-judge try "" Lima "It is Lima." --judge starter,containment               # no question; two judges
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOptions(FormatOptions):
    """What `try` takes besides the flags of the judge."""

    question: Annotated[str, "the question; an empty text for none", Argument("QUESTION")]
    references: Annotated[tuple[str, ...], "one or more correct answers", Argument("REFERENCE")]
    candidate: Annotated[str, "the answer to judge", Argument("CANDIDATE")]
    explain: Annotated[bool | None, "find the words that decided (default: yes, unless verdicts cost money)"] = None

    def __post_init__(self) -> None:
        if not all(map(str.strip, self.references)):
            raise InputError("a reference is empty; the text of a correct answer was expected.")


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, judge the answer, and print what each judge says of it."""
    parser = Parser("try", "QUESTION REFERENCE … CANDIDATE [flags]", _EXAMPLES, {"flags": TryOptions})
    read_judges = add_judges(parser, arguments, several="several judges")
    values = parser.parse(arguments)
    options, rows, status = options_from(TryOptions, values), list[Row](), 0
    question = options.question if options.question.strip() else None
    for name, spec in read_judges(values).items():
        sample = Sample(options.candidate, options.references, question, name)
        with log_shown(True):
            judge = spec.make().fitted([sample])
        (record,) = judged_records([sample], judge, texts=True)
        row, info = Row.read(record), judge.info
        explained = not info.paid if options.explain is None else options.explain
        if explained and info.threshold is not None and row.score is not None:
            (why,) = explain(judge, [(sample, row.score)])
            row = replace(row, why=why) if why.sentences or why.words else row
        if options.format == "text":
            lines = row_lines(row, None, "P(correct) " if info.scale == "probability" else "score ")
            say("\n" * bool(rows) + "\n".join(lines) + legend(row))
        rows.append(row)
        status = JUDGE_FAILED if row.verdict.failed else status
    if options.format != "text":
        parts = [row_examples(row.id or "", [row], None) for row in rows]
        options.show(Document("One answer", parts), {"answers": list(map(row_record, rows))})
    return status
