"""`bert-judge audit`: attack a judge, and see whether it keeps its verdicts when nothing has changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from bert_judge.cli import GATE_MISSED, log_shown, progress_bar, say_error
from bert_judge.cli.flags import FormatOptions, Parser, options_from
from bert_judge.cli.judging import add_judges
from bert_judge.errors import InputError
from bert_judge.judges.naming import JudgeSpec
from bert_judge.records import __version__
from bert_judge.report.audit import audit_document, audit_record, to_files
from bert_judge.results import check_folder, write_files
from bert_judge.studies.audit import FAMILIES, Gate, assess_trials, load_items, make_trials, needed_samples
from bert_judge.studies.audit.trials import spread
from bert_judge.wording import public_command

_EXAMPLES = """examples:
  bert-judge audit                                                     # the starter, in about a minute
  bert-judge audit --judge models/my-judge --output_dir audit
  bert-judge audit --families negated,cut-off_reasoning --output_dir audit
  bert-judge audit --max_accept 0.02 --min_kept 0.97                   # a gate: exit status 4 if a limit is missed

The attacks and invariances are described in docs/audit.md; --families takes their names with _ for spaces.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(FormatOptions):
    """What `audit` takes besides the gate and the flags of the judge."""

    items: Annotated[int, "most questions to use, spread evenly over all", 1] = 200
    families: Annotated[tuple[str, ...] | None, "which attacks and invariances (default: all)"] = None
    output_dir: Annotated[str | None, "folder for audit.json, audit.md and audit_failures.jsonl", "-o"] = None
    quiet: Annotated[bool, "no progress bar and no table"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, make the trials, load the judge, judge them, and print what failed."""
    spec, options, gate = _parse(arguments)
    folder = None if options.output_dir is None else check_folder(options.output_dir)
    trials = make_trials(spread(load_items(), options.items), options.families)
    with log_shown(not options.quiet):
        judge = spec.make()
    signature = judge.info.signature
    start = time.monotonic()
    with progress_bar(len(needed_samples(trials)), "judging", options.quiet) as bar:
        audit = assess_trials(trials, judge, progress=lambda done: bar.update(done - bar.n))
    misses = gate.misses(audit)
    run_record = {
        "version": __version__,
        "command": public_command(["bert-judge", "audit", *arguments]),
        "signature": asdict(signature),
        "seconds": round(time.monotonic() - start, 1),
        "gate": {**asdict(gate), "misses": misses},
    }
    document, record = audit_document(audit, signature, misses), audit_record(audit, run_record)
    if folder:
        write_files(folder, to_files(audit, record, document))
    if options.format == "text":
        document = replace(document, notes=())  # standard error has them
    if not options.quiet:
        options.show(document, record)
        if folder:
            options.mention(f"files  {folder}/: audit.json, audit.md, audit_failures.jsonl")
    for miss in misses:
        say_error(f"gate missed: {miss}")
    return GATE_MISSED if misses else 0


def _parse(arguments: Sequence[str]) -> tuple[JudgeSpec, AuditOptions, Gate]:
    """The judge, the options and the gate."""
    parser = Parser("audit", "[flags]", _EXAMPLES, {"the trials": AuditOptions, "the gate": Gate})
    read_judges = add_judges(parser, arguments)
    values = parser.parse(arguments)
    spec, *others = read_judges(values).values()
    if others:
        raise InputError(f"audit attacks one judge at a time, not {len(others) + 1}; name one.")
    if values["families"]:
        names = {family.replace(" ", "_"): family for family in FAMILIES}
        values["families"] = tuple(names.get(name, name) for name in values["families"])
    return spec, options_from(AuditOptions, values), options_from(Gate, values)
