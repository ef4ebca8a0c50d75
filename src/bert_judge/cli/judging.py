"""What the commands that judge share: the flags of files, results and judges, and judging with a progress bar."""

from __future__ import annotations

import inspect
import sys
from argparse import SUPPRESS, BooleanOptionalAction
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from bert_judge.cli import note, progress_bar, say_error
from bert_judge.cli.flags import FormatOptions, Parser, config_flags, names_in, peek, spellings
from bert_judge.encoder.models import STARTER
from bert_judge.encoder.packaged import OURS
from bert_judge.errors import InputError
from bert_judge.inputs import FORMATS, ColumnMap, Source, open_source
from bert_judge.judges import JUDGES
from bert_judge.judges.base import SECRETS, Judge
from bert_judge.judges.naming import JudgeSpec, check_no_class, read_name, renamed, with_flags
from bert_judge.results import PART_ROWS, ResultFolder, different_figures
from bert_judge.studies.score import Rows, explain_result, open_result, score_source, uncertain_rows
from bert_judge.wording import counted

JUDGE_FAILED = 5
"""The exit status where the judge failed on rows, which the same command judges again."""

TUNED = "file that evaluate --tune wrote: a threshold and temperature for your kind of answers"
_REMOTE = "RemoteJudge"
_JUDGE, _SERVER = ["--judge", "--judge_type", "--judge-type"], ["--server"]
_TRUST = spellings("trust_remote_code")


# ------------------------------------------------------------------------------------- files of answers, and results


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How files of answers are read."""

    map: Annotated[ColumnMap | None, "which column is what: question=q,reference=gold,candidate=out,label=human"] = None
    input_format: Annotated[str | None, f"{', '.join(FORMATS)} (default: by file name or content)"] = None
    limit: Annotated[int | None, "only the first N rows"] = None
    skip_bad_rows: Annotated[bool, "set unreadable rows aside instead of stopping"] = False
    numbers_as_text: Annotated[bool, "read numbers in text columns as text, exactly as written"] = False
    reference_separator: Annotated[str | None, "what separates references that share a column, such as '; '"] = None

    @property
    def input_settings(self) -> dict[str, Any]:
        """The options that change which rows are judged, and how they are read."""
        names = ("map", "limit", "skip_bad_rows", "numbers_as_text", "reference_separator")
        return {name: getattr(self, name) for name in names}


def open_input(path: str | Sequence[str], options: InputOptions, **more: Any) -> Source:
    """The checked input, by the options and `more` arguments of `open_source`. Raises what that does."""
    settings = {**options.input_settings, "input_format": options.input_format}
    return open_source(path, **{"columns": settings.pop("map"), **settings, **more})


@dataclass(frozen=True, kw_only=True)
class OutputOptions(FormatOptions):
    """Where results go, and how their tables are printed."""

    output_dir: Annotated[str, "folder for the results", "-o"] = "bert-judge-out"
    overwrite: Annotated[bool, "replace existing results, even those of another judge, input or options"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


@dataclass(frozen=True, kw_only=True)
class VerdictOptions(OutputOptions):
    """What is written of verdicts, where judges run, and whether their verdicts are one file or parts."""

    explain: Annotated[int, "find the words that decided the scores of the N rows nearest the threshold", 0] = 0
    no_texts: Annotated[bool, "write no questions, references or candidates"] = False

    engine: Annotated[Literal["local", "ray"], "ray: judge on a Ray cluster, and write parquet"] = "local"
    ray_address: Annotated[str | None, "a running cluster: auto or ray://HOST:10001 (default: start one)"] = None
    actors: Annotated[int | None, "with --engine ray: judges at work (default: one per GPU or machine)"] = None
    output_format: Annotated[Literal["jsonl", "parquet"] | None, "one file, or parquet parts (default: jsonl)"] = None
    part_rows: Annotated[int | None, f"rows per parquet part; a killed run loses up to one ({PART_ROWS:,})", 1] = None

    def __post_init__(self) -> None:
        if self.explain and self.no_texts:
            raise InputError("--explain writes words of the candidates, which --no_texts leaves out; give one of them.")
        if self.engine == "ray" and self.output_format == "jsonl":
            raise InputError("--engine ray writes parts, in any order; leave --output_format jsonl out.")
        if self.engine != "ray" and (self.actors is not None or self.ray_address):
            raise InputError("--actors and --ray_address are for --engine ray; add it, or leave them out.")
        if self.part_rows and not self.in_parts:
            raise InputError("--part_rows is for parts; add --output_format parquet, or leave it out.")

    @property
    def in_parts(self) -> bool:
        """Whether verdicts are written in parts."""
        return self.engine == "ray" or self.output_format == "parquet"

    @property
    def settings(self) -> dict[str, Any]:
        """The options that change the files."""
        parts = {"part_rows": self.part_rows or PART_ROWS} if self.in_parts else {}
        return {"no_texts": self.no_texts, **parts}


# ------------------------------------------------------------------------------------- judges


def add_judges(
    parser: Parser, arguments: Sequence[str], *, several: str = "", others: bool = False
) -> Callable[[Mapping[str, Any]], dict[str, JudgeSpec]]:
    """Add the flags that name judges, and those of the named ones; returns what makes judges by name of their values.

    `several` says what comes of several. With `others` the flags of judges that are not named are accepted, too, as
    scripts for all judges give them, and a note says that they are not used.
    """
    group = parser.add_argument_group("the judge")
    text = (
        f"{STARTER} (the default), {', '.join(OURS)}, a metric such as containment, a model's folder or Hub name, "
        f"{', '.join(JUDGES)}, "
    )
    text += "module:Class, or a YAML file" + (f"; a,b: {several}" if several else "")
    group.add_argument(*_JUDGE, metavar="NAME", help=text)
    chosen = _chosen_judges(arguments)
    kinds = {spec.judge_type: spec.kind for spec in chosen}
    added: set[str] = {*SECRETS}
    if _REMOTE not in kinds:
        text = "judge on the bert-judge serve at this address; --judge names one of its judges"
        group.add_argument(*_SERVER, metavar="URL", help=text)
    for name, kind in kinds.items():
        added.update(parser.add_flags(f"what {name} takes", kind, given_only=True, without=added))
    store = "file that keeps verdicts for later runs; auto: one in the cache folder (default: off)"
    for flag, text in (("store", store), ("tuned", TUNED)):
        if flag not in added:
            added.add(flag)
            group.add_argument(f"--{flag}", metavar="PATH", default=SUPPRESS, help=text)
    if "trust_remote_code" not in added:
        text = "import the classes (module:Class) that a judge's YAML file names"
        group.add_argument(*_TRUST, action=BooleanOptionalAction, default=False, help=text)
    owners = _add_flags_of_others(parser, {*added, "server", "trust_remote_code"}) if others else {}

    def read(values: Mapping[str, Any]) -> dict[str, JudgeSpec]:
        for flag in (flag for flag in owners if flag in values):
            note(f"--{flag} belongs to {' and '.join(owners[flag])} and is not used by {', '.join(kinds)}.")
        specs = with_flags(chosen, {name: values[name] for name in added if name in values})
        for spec in specs:
            for name in spec.lacking:
                parser.error(f"{spec.judge_type} needs --{name}")
        return {spec.name: spec for spec in specs}

    return read


def trusts_files(arguments: Sequence[str]) -> bool:
    """Whether files may name classes: no file can say so itself."""
    return any(flag in arguments for flag in _TRUST)


def _chosen_judges(arguments: Sequence[str]) -> list[JudgeSpec]:
    """The judges that `--judge` names, else the starter; their flags are not known yet.

    With `--server` the names are those of judges that run there.
    """
    trusted = trusts_files(arguments)
    named, named_by_file = (peek(words, judge=_JUDGE, server=_SERVER) for words in (arguments, config_flags(arguments)))
    names = names_in(named["judge"] or named_by_file["judge"] or ())
    if not (trusted or named["judge"]):
        for name in names:
            check_no_class(name, "the file of --config")
    if (named["server"] or named_by_file["server"]) and names != (_REMOTE,):
        served = [JudgeSpec(name, JUDGES[_REMOTE], {"served": name}, frozenset(["served"])) for name in names]
        return renamed(served or [JudgeSpec("served", JUDGES[_REMOTE], {})])
    return renamed(read_name(name, trusted) for name in names or [STARTER])


def _add_flags_of_others(parser: Parser, added: set[str]) -> dict[str, list[str]]:
    """Accept the flags of judges that are not chosen; returns whose they are."""
    owners: dict[str, list[str]] = {}
    for name, kind in JUDGES.items():
        parser.add_flags("", kind, given_only=True, without={*added, *owners})
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


def judged_result(
    rows: Rows,
    judge: Judge,
    path: Path,
    settings: Mapping[str, Any],
    options: OutputOptions,
    title: str,
    command: Sequence[str],
) -> tuple[Judge, ResultFolder]:
    """The judge, fitted to these rows, and its whole result, of which what is lacking is judged with a progress bar.

    `settings` are those that change the files. KeyboardInterrupt says what is kept, and how to go on.
    """
    fitted, folder = open_result(rows, judge, path, settings, options.overwrite)
    no_texts = isinstance(options, VerdictOptions) and options.no_texts
    if folder.finished:
        for sentence in different_figures(folder.folder, folder.run["summary"]):
            raise InputError(f"{sentence[:-1]}: it was changed after it was written; judge again with --overwrite.")
    else:
        _judge_rows(
            rows, folder, score_source(rows, fitted, folder, texts=not no_texts, command=command), title, options
        )
    if isinstance(options, VerdictOptions) and options.explain:
        _explain_rows(rows, fitted, folder, options)
    return fitted, folder


def _judge_rows(rows: Rows, folder: ResultFolder, counts: Generator[int], title: str, options: OutputOptions) -> None:
    done, total, begun = folder.rows_done, len(rows), ""
    if folder.failed:
        begun = f"judging the {counted(folder.failed, 'row')} of {folder.folder} again on which the judge failed."
    elif done:
        begun = f"{folder.folder} has {done} of {total} rows already; going on."
    try:
        with progress_bar(total, title, options.quiet, done) as bar, closing(counts):
            for number, done in enumerate(counts):
                if number == 0 and begun and not options.quiet:
                    bar.write(begun, file=sys.stderr)  # not before the folder is ours
                bar.update(done - bar.n)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped after {done} of {total} rows; they are kept in {folder.folder}, "
            "and the same command goes on from there."
        ) from None


def _explain_rows(rows: Rows, judge: Judge, folder: ResultFolder, options: VerdictOptions) -> None:
    """Explain the rows of a finished result that are nearest the threshold."""
    if judge.info.threshold is None:
        note(f"{folder.folder} is of a judge without a threshold, so no row is near it, and none is explained.")
        return
    chosen = uncertain_rows(folder, judge.info.threshold, options.explain)
    with progress_bar(len(chosen), "explaining", options.quiet) as bar:
        for _ in explain_result(rows, judge, folder, chosen):
            bar.update()


def say_failed(results: Iterable[ResultFolder], command: str) -> int:
    """Say on standard error how many rows judges failed on, and why; the exit status for that."""
    status = 0
    for result in (result for result in results if result.summary.failed):
        causes = Counter(record["explanation"] for record in result.records() if record.get("failed"))
        status = JUDGE_FAILED
        cause, times = causes.most_common(1)[0]
        most = f", {times} of them" if len(causes) > 1 else ""
        say_error(
            f"{command}: the judge failed on {counted(causes.total(), 'row')} of {result.folder}{most} with {cause!r}; "
            "fix this and run the same command again: only these rows are judged."
        )
    return status
