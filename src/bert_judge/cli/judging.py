"""What the commands that judge share: the flags that name judges, and judging with a progress bar."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import Any

from bert_judge.artifacts import ResultFolder
from bert_judge.cli import note, progress_bar
from bert_judge.cli.flags import Parser, add_flags, joined_names, names_in, peek, spellings
from bert_judge.errors import InputError
from bert_judge.judges import JUDGES, find_judge
from bert_judge.judges.base import Judge
from bert_judge.judges.naming import YAML, JudgeSpec, Named, distinct, read_name
from bert_judge.metrics import METRICS
from bert_judge.models import STARTER
from bert_judge.pipeline import Rows, score_source

JUDGE_FAILED = 5
"""The exit status where the judge failed on rows, which the same command judges again."""


def chosen_judges(arguments: Sequence[str]) -> list[Named]:
    """The judges that `--judge` names, else `--judge_type`, else the starter; their flags are not known yet."""
    asked = peek(arguments, "judge", "judge_type")
    names, kinds = names_in(asked["judge"] or ()), names_in(asked["judge_type"] or ())
    if names and kinds:
        raise InputError(f"--judge {','.join(names)} and --judge_type {','.join(kinds)} both name the judge; give one.")
    if any(":" in name or name.endswith(YAML) or name == "Cascade" for name in (*names, *kinds)):
        sys.path.append(str(Path.cwd()))  # a judge of one's own lies where one works
    for kind in kinds:
        if kind == STARTER or kind in METRICS:
            raise InputError(f"--judge_type takes the class of a judge, which {kind} is not; write --judge {kind}.")
    named = [Named(kind.rpartition(":")[2], {"judge_type": kind}) for kind in kinds]
    return named or [read_name(name) for name in names or [STARTER]]


def add_judges(
    parser: Parser, named: Sequence[Named], *, several: str = "", others: bool = False
) -> Callable[[Mapping[str, Any]], dict[str, JudgeSpec]]:
    """Add the flags that name judges, and those of the named ones; returns what makes judges of their values.

    `several` says what comes of several. With `others` the flags of judges that are not named are accepted, too, as
    scripts for all judges give them, and a note says that they are not used.
    """
    group = parser.add_argument_group("the judge")
    help_text = f"{STARTER} (the default), a metric such as containment, a folder or a name on the Hub, "
    help_text += f"{', '.join(JUDGES)}, module:Class, or a YAML file" + (f"; a,b: {several}" if several else "")
    group.add_argument(*spellings("judge"), type=joined_names, metavar="NAME", help=help_text)
    group.add_argument(
        *spellings("judge_type"),
        type=joined_names,
        metavar="NAME",
        help="its class: one of these names, or module:Class",
    )
    taken: set[str] = set()
    for kind in dict.fromkeys(map(_kind, named)):
        taken.update(parser.flags(f"what {kind} takes", find_judge(kind), given_only=True, without=taken))
    owners = _add_flags_of_others(parser, taken) if others else {}

    def read(values: Mapping[str, Any]) -> dict[str, JudgeSpec]:
        for flag in (flag for flag in owners if flag in values):
            kinds = ", ".join(dict.fromkeys(map(_kind, named)))
            note(f"--{flag} belongs to {' and '.join(owners[flag])} and is not used by {kinds}.")
        given = {name: values[name] for name in taken if name in values}
        names = distinct([each.name for each in named])
        return {name: _with_flags(parser, each, given) for name, each in zip(names, named, strict=True)}

    return read


def _add_flags_of_others(parser: Parser, taken: Set[str]) -> dict[str, list[str]]:
    """Accept the flags of judges that are not chosen; returns whose they are."""
    group = parser.add_argument_group()
    owners: dict[str, list[str]] = {}
    for name, kind in JUDGES.items():
        add_flags(group, kind, given_only=True, without={*taken, *owners}, hidden=True)
        for flag in inspect.signature(kind).parameters:
            if flag not in taken:
                owners.setdefault(flag, []).append(name)
    return owners


def _kind(named: Named) -> str:
    return str(named.values.get("judge_type") or "BERTJudge")


def _with_flags(parser: Parser, named: Named, given: Mapping[str, Any]) -> JudgeSpec:
    kind = _kind(named)
    parameters = inspect.signature(find_judge(kind)).parameters
    values = {**named.values, **{name: value for name, value in given.items() if name in parameters}}
    for name, parameter in parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in values:
            parser.error(f"{kind} needs --{name}")
    return JudgeSpec.of(values)


def judge_rows(
    rows: Rows, judge: Judge, folder: ResultFolder, title: str, *, texts: bool, quiet: bool, command: Sequence[str]
) -> None:
    """Judge what a result lacks, with a progress bar. KeyboardInterrupt says what is kept, and how to go on."""
    if folder.finished:
        return
    done, total = folder.rows_done, len(rows)
    counts = score_source(rows, judge, folder, texts=texts, command=command)
    try:
        with progress_bar(total, title, quiet, done) as bar, closing(counts):
            for number, done in enumerate(counts):
                if number == 0 and not quiet and (goes_on := _goes_on(folder, total)):
                    bar.write(goes_on, file=sys.stderr)  # not before the folder is ours
                bar.update(done - bar.n)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped after {done} of {total} rows; they are kept in {folder.folder}, "
            "and the same command goes on from there."
        ) from None


def _goes_on(folder: ResultFolder, total: int) -> str:
    if folder.failed:
        return f"judging the {folder.failed} rows of {folder.folder} again on which the judge failed."
    return f"{folder.folder} has {folder.rows_done} of {total} rows already; going on." if folder.rows_done else ""


def say_failed(results: Iterable[ResultFolder], command: str) -> int:
    """Say on standard error how many rows judges failed on, and why; the exit status for that."""
    status = 0
    for result in results:
        causes = Counter(record["explanation"] for record in result.records() if record.get("failed"))
        if causes:
            status = JUDGE_FAILED
            cause, times = causes.most_common(1)[0]
            most = f", {times} of them" if len(causes) > 1 else ""
            print(
                f"{command}: the judge failed on {causes.total()} rows of {result.folder}{most} with {cause!r}; mend "
                "that and run the same command again: it judges these rows alone.",
                file=sys.stderr,
            )
    return status
