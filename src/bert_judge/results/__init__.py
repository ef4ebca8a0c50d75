"""Every file format that we write and read back. A result appears whole or not at all.

A result is a folder with three files:

    verdicts.jsonl   one line a row, in the order of the input: id, score, label, gold, what was cut, the texts
    scores.json      the scores alone, a list of numbers (null: undecided)
    run.json         the signature, versions, counts, command, timings, and hashes of the other files; its presence says
                     that the result is whole

and, where rows were set aside, `bad_rows.jsonl`. In place of `verdicts.jsonl` there may be a folder `verdicts` with
parts of so many rows each (`parts`). While a run is under way all these are called `….partial`. A run that stops leaves
them, and the next one with the same judge and input goes on after the last whole line, or with the parts that are
missing. Explanations of some of the rows are in `explanations.jsonl`, which comes after all of these.

Candidates of a model are a folder with `candidates.json`, a list of texts, one a row of the task, and `run.json`.
"""

from __future__ import annotations

from bert_judge.results.files import (
    BAD_ROWS,
    CANDIDATES,
    EXPLANATIONS,
    PARTS,
    REPORT,
    RUN,
    SCORES,
    VERDICTS,
    check_file,
    check_folder,
    check_free,
    read_list,
    write_files,
)
from bert_judge.results.folder import Identity, ResultFolder, circumstances
from bert_judge.results.parts import PART_ROWS
from bert_judge.results.runs import damage, different_figures, read_explanations, read_verdicts, write_explanations

__all__ = [
    "BAD_ROWS",
    "CANDIDATES",
    "EXPLANATIONS",
    "PARTS",
    "PART_ROWS",
    "REPORT",
    "RUN",
    "SCORES",
    "VERDICTS",
    "Identity",
    "ResultFolder",
    "check_file",
    "check_folder",
    "check_free",
    "circumstances",
    "damage",
    "different_figures",
    "read_explanations",
    "read_list",
    "read_verdicts",
    "write_explanations",
    "write_files",
]
