"""What the commands that judge share: the flags that name judges, and judging with a progress bar."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bert_judge.artifacts import ResultFolder
from bert_judge.cli import progress_bar
from bert_judge.cli.flags import Parser, add_flags, names_in, spellings
from bert_judge.errors import InputError
from bert_judge.judges import JUDGES, find_judge
from bert_judge.judges.base import Judge
from bert_judge.judges.naming import YAML, JudgeSpec, Named, distinct, read_name
from bert_judge.metrics import METRICS
from bert_judge.pipeline import Rows, score_source
from bert_judge.utils import STARTER

JUDGE_FAILED = 5
"""The exit status where the judge failed on rows, which the same command judges again."""


def chosen_judges(values: Mapping[str, Any]) -> list[Named]:
    """The judges that `judge` names, else `judge_type`, else the starter, as far as is known without their flags."""
    names, kind = names_in(values.get("judge") or ()), str(values.get("judge_type") or "")
    if names and kind:
        raise InputError(f"--judge {','.join(names)} and --judge_type {kind} both name the judge; give one of them.")
    if any(":" in name or name.endswith(YAML) or name == "Cascade" for name in (*names, kind)):
        sys.path.append(str(Path.cwd()))  # a judge of one's own lies where one works
    if kind == STARTER or kind in METRICS:
        raise InputError(f"--judge_type takes the class of a judge, which {kind} is not; write --judge {kind}.")
    if kind:
        return [Named(kind.rpartition(":")[2], {"judge_type": kind})]
    return [read_name(name) for name in names or [STARTER]]


def add_judges(parser: Parser, named: Sequence[Named]) -> Callable[[Mapping[str, Any]], dict[str, JudgeSpec]]:
    """Add the flags that name judges, and those of the named ones; returns what makes judges of their values."""
    group = parser.add_argument_group("the judge")
    group.add_argument(
        *spellings("judge"),
        metavar="NAME",
        help=f"{STARTER} (the default), a metric such as containment, a folder or a name on the Hub, "
        f"{', '.join(JUDGES)}, module:Class, or a YAML file; a,b: several, a folder each",
    )
    group.add_argument(*spellings("judge_type"), metavar="NAME", help="its class: one of these names, or module:Class")
    taken: set[str] = set()
    for kind in dict.fromkeys(map(_kind, named)):
        flags = parser.add_argument_group(f"what {kind} takes")
        taken.update(add_flags(flags, find_judge(kind), given_only=True, without=taken))

    def read(values: Mapping[str, Any]) -> dict[str, JudgeSpec]:
        given = {name: values[name] for name in taken if name in values}
        names = distinct([each.name for each in named])
        return {name: _with_flags(parser, each, given) for name, each in zip(names, named, strict=True)}

    return read


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
