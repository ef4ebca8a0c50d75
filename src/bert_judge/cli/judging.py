"""What the commands that judge share: the flags that name judges, and judging with a progress bar."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from typing import Any

from bert_judge.cli import note, progress_bar, say_error
from bert_judge.cli.flags import Parser, add_flags, joined_names, names_in, peek, spellings
from bert_judge.cli.outputs import VerdictOptions
from bert_judge.encoder.models import STARTER
from bert_judge.errors import InputError
from bert_judge.judges import JUDGES
from bert_judge.judges.base import SECRETS, Judge
from bert_judge.judges.naming import JudgeSpec, check_no_class, read_name, read_values, renamed, with_flags
from bert_judge.metrics import METRICS
from bert_judge.results import ResultFolder, different_figures
from bert_judge.studies.score import Rows, explain_result, score_source, uncertain_rows

_REMOTE = "RemoteJudge"

JUDGE_FAILED = 5
"""The exit status where the judge failed on rows, which the same command judges again."""


def chosen_judges(arguments: Sequence[str]) -> list[JudgeSpec]:
    """The judges that `--judge` names, else `--judge_type`, else the starter; their flags are not known yet.

    With `--server` the names are those of judges that run there.
    """
    asked, trusted = peek(arguments, "judge", "judge_type", "server"), trusts_files(arguments)
    names, kinds = names_in(asked["judge"] or ()), names_in(asked["judge_type"] or ())
    if not trusted:
        for name in {*names, *kinds}:
            if not any(name in argument for argument in arguments):
                check_no_class(name, "the file of --config")
    if asked["server"] and kinds and set(kinds) != {_REMOTE}:
        raise InputError(
            "--server names judges that run elsewhere by --judge; --judge_type is for those that run here."
        )
    if asked["server"] and names != (_REMOTE,) and not kinds:
        served = [{"served": name} for name in names] or [{}]
        named = zip(names or ["served"], served, strict=True)
        return renamed(JudgeSpec(name, JUDGES[_REMOTE], settings, frozenset(settings)) for name, settings in named)
    if names and kinds:
        raise InputError(f"--judge {','.join(names)} and --judge_type {','.join(kinds)} both name the judge; give one.")
    for kind in kinds:
        if kind == STARTER or kind in METRICS:
            raise InputError(f"--judge_type takes the class of a judge, which {kind} is not; write --judge {kind}.")
    if kinds:
        return renamed(read_values({"judge_type": kind}, kind.rpartition(":")[2]) for kind in kinds)
    return renamed(read_name(name, trusted) for name in names or [STARTER])


def trusts_files(arguments: Sequence[str]) -> bool:
    """Whether files may name classes: no file can say so itself."""
    return any(flag in arguments for flag in spellings("trust_remote_code"))


def add_judges(
    parser: Parser, chosen: Sequence[JudgeSpec], *, several: str = "", others: bool = False
) -> Callable[[Mapping[str, Any]], dict[str, JudgeSpec]]:
    """Add the flags that name judges, and those of the chosen ones; returns what makes judges by name of their values.

    `several` says what comes of several. With `others` the flags of judges that are not chosen are accepted, too, as
    scripts for all judges give them, and a note says that they are not used.
    """
    group = parser.add_argument_group("the judge")
    help_text = f"{STARTER} (the default), a metric such as containment, a folder or a name on the "
    help_text += f"Hub, {', '.join(JUDGES)}, module:Class, or a YAML file" + (f"; a,b: {several}" if several else "")
    group.add_argument(*spellings("judge"), type=joined_names, metavar="NAME", help=help_text)
    group.add_argument(
        *spellings("judge_type"),
        type=joined_names,
        metavar="NAME",
        help="its class: one of these names, or module:Class",
    )
    kinds = {spec.judge_type: spec.kind for spec in chosen}
    added: set[str] = {*SECRETS}
    if _REMOTE not in kinds:
        help_text = "let the bert-judge serve at this address judge; --judge names one of its judges"
        group.add_argument(*spellings("server"), metavar="URL", help=help_text)
    for name, kind in kinds.items():
        added.update(parser.flags(f"what {name} takes", kind, given_only=True, without=added))
    if "store" not in added:
        help_text = "file of kept verdicts, none of which is computed again; auto: in the cache folder (default: off)"
        group.add_argument(*spellings("store"), metavar="FILE", help=help_text)
    if "trust_remote_code" not in added:
        add_trust(group)
    owners = _add_flags_of_others(parser, {*added, "server", "store", "trust_remote_code"}) if others else {}

    def read(values: Mapping[str, Any]) -> dict[str, JudgeSpec]:
        for flag in (flag for flag in owners if flag in values):
            note(f"--{flag} belongs to {' and '.join(owners[flag])} and is not used by {', '.join(kinds)}.")
        specs = with_flags(chosen, {name: values[name] for name in added if name in values})
        for spec in specs:
            for name in spec.lacking:
                parser.error(f"{spec.judge_type} needs --{name}")
        kept = [spec if "store" in spec.settings else replace(spec, store=values.get("store")) for spec in specs]
        return {spec.name: spec for spec in kept}

    return read


def add_trust(parser: argparse._ActionsContainer) -> None:
    """Add the flag that lets files name classes."""
    help_text = "import the classes that a file of judges names as module:Class"
    parser.add_argument(*spellings("trust_remote_code"), action="store_true", help=help_text)


def _add_flags_of_others(parser: Parser, added: Set[str]) -> dict[str, list[str]]:
    """Accept the flags of judges that are not chosen; returns whose they are."""
    group = parser.add_argument_group()
    owners: dict[str, list[str]] = {}
    for name, kind in JUDGES.items():
        add_flags(group, kind, given_only=True, without={*added, *owners}, hidden=True)
        for flag in inspect.signature(kind).parameters:
            if flag not in added:
                owners.setdefault(flag, []).append(name)
    return owners


def made_judge(spec: JudgeSpec, options: VerdictOptions) -> Judge:
    """The judge, in this process or on a cluster. Raises what making it raises."""
    if options.engine == "local":
        return spec.make()
    from bert_judge.integrations.distributed import RayJudge

    return RayJudge(spec, options.actors, options.ray_address)


def judge_rows(
    rows: Rows, judge: Judge, folder: ResultFolder, title: str, *, texts: bool, quiet: bool, command: Sequence[str]
) -> None:
    """Judge what a result lacks, with a progress bar. KeyboardInterrupt says what is kept, and how to go on."""
    if folder.finished:
        for sentence in different_figures(folder.folder, folder.run["summary"]):
            raise InputError(f"{sentence[:-1]}: it was changed after it was written; judge again with --overwrite.")
        return
    done, total = folder.rows_done, len(rows)
    goes_on = _goes_on(folder, total)
    counts = score_source(rows, judge, folder, texts=texts, command=command)
    try:
        with progress_bar(total, title, quiet, done) as bar, closing(counts):
            for number, done in enumerate(counts):
                if number == 0 and not quiet and goes_on:
                    bar.write(goes_on, file=sys.stderr)  # not before the folder is ours
                bar.update(done - bar.n)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped after {done} of {total} rows; they are kept in {folder.folder}, "
            "and the same command goes on from there."
        ) from None


def explain_rows(rows: Rows, judge: Judge, folder: ResultFolder, most: int, quiet: bool) -> None:
    """Explain so many rows of a finished result, those nearest the threshold, with a progress bar."""
    if not most:
        return
    if judge.info.threshold is None:
        note(f"{folder.folder} is of a judge without a threshold, so no row is near it, and none is explained.")
        return
    chosen = uncertain_rows(folder, judge.info.threshold, most)
    with progress_bar(len(chosen), "explaining", quiet) as bar:
        for _ in explain_result(rows, judge, folder, chosen):
            bar.update()


def _goes_on(folder: ResultFolder, total: int) -> str:
    if folder.failed:
        return f"judging the {folder.failed} rows of {folder.folder} again on which the judge failed."
    return f"{folder.folder} has {folder.rows_done} of {total} rows already; going on." if folder.rows_done else ""


def say_failed(results: Iterable[ResultFolder], command: str) -> int:
    """Say on standard error how many rows judges failed on, and why; the exit status for that."""
    status = 0
    for result in (result for result in results if result.summary.failed):
        causes = Counter(record["explanation"] for record in result.records() if record.get("failed"))
        status = JUDGE_FAILED
        cause, times = causes.most_common(1)[0]
        most = f", {times} of them" if len(causes) > 1 else ""
        say_error(
            f"{command}: the judge failed on {causes.total()} rows of {result.folder}{most} with {cause!r}; fix "
            "this and run the same command again: only these rows are judged."
        )
    return status
