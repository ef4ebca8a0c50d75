"""What requests and answers look like: the server's OpenAPI document is made from these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from bert_judge.errors import did_you_mean
from bert_judge.records import Verdict, whole_text
from bert_judge.server.refusing import RefusedError, shortened, shown

MOST_REFERENCES = 1_000
"""Of one row."""

MOST_ROWS: Final[ContextVar[int]] = ContextVar("most_rows", default=1_000_000)
"""Of the request that is being read."""


def _whole(value: object) -> object:
    """A text without half characters, which JSON can hold."""
    return whole_text(value) if isinstance(value, str) else value


def _named(value: object) -> object:
    """A name as it is: another one in its place would be somebody else's."""
    if isinstance(value, str) and whole_text(value) != value:
        raise PydanticCustomError("half_character", "a name without half characters was expected")
    return value


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _counted(value: object) -> object:
    """Rows, unless there are too many, of which none is read."""
    if isinstance(value, list) and len(value) > MOST_ROWS.get():
        raise RefusedError(413, f"{len(value):,} rows were sent; up to {MOST_ROWS.get():,} are taken.", "rows")
    return value


Text = Annotated[str, BeforeValidator(_whole, json_schema_input_type=str)]
Name = Annotated[str, BeforeValidator(_named, json_schema_input_type=str)]
Rows = (Field(fail_fast=True), BeforeValidator(_counted))
"""What lists of rows have besides their type: the first wrong row is said, and no other is read."""
Texts = Annotated[
    Annotated[list[Text], Field(min_length=1, max_length=MOST_REFERENCES, fail_fast=True)],
    BeforeValidator(_as_list, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]
"""A text, or several."""


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _first_unknown(cls, value: object) -> object:
        """All known fields, and the first unknown one: one is said, and there may be a million."""
        if not isinstance(value, dict) or len(value) <= len(cls.model_fields):
            return value
        unknown = next((name for name in value if name not in cls.model_fields), None)
        return {name: value[name] for name in (*cls.model_fields, unknown) if name in value}


class _Referenced(_Request):
    reference: Texts | None = Field(None, description="A correct answer, or several.")
    references: Texts | None = Field(None, description="The same: give one of the two.")


class _ForJudge(_Request):
    judge: Name | None = Field(None, description="One of the served judges; without it, the first one.")
    model: Name | None = Field(None, description="The same, as OpenAI's clients call it.")


class Row(_Referenced):
    """A candidate to judge."""

    candidate: Text
    question: Text | None = None
    id: Annotated[str | int | None, BeforeValidator(_named, json_schema_input_type=str | int | None)] = Field(
        None, description="Comes back with the verdict."
    )


class OneRow(Row, _ForJudge):
    """A candidate, and which judge is asked."""


class ManyRows(_ForJudge):
    """Candidates, and which judge is asked."""

    samples: Annotated[list[Row], *Rows]


def _one_or_many(value: object) -> str:
    return "rows" if isinstance(value, Mapping) and "samples" in value else "row"


JudgeRequest = Annotated[
    Annotated[OneRow, Tag("row")] | Annotated[ManyRows, Tag("rows")],
    Discriminator(_one_or_many),
]


class BertScoreRequest(_ForJudge):
    """Texts to compare, one with each entry of references, which may be several."""

    candidates: Annotated[list[Text], *Rows]
    references: Annotated[list[Texts], *Rows]


class Grader(_Request):
    """A text_similarity grader whose metric is a served judge; texts may hold {{item.…}} and {{sample.…}}."""

    type: Literal["text_similarity"]
    name: Name
    evaluation_metric: Name = Field(description="The name of a served judge.")
    input: str = Field(description="The candidate: {{sample.output_text}}, say.")
    reference: str = Field(description="{{item.reference}}, say; that may be a list of texts.")
    question: str | None = Field(None, description="{{item.question}}, say; not of OpenAI.")
    pass_threshold: float | None = None


class GraderRequest(_Request):
    """What OpenAI's client sends to try a grader on one answer."""

    grader: Grader
    model_sample: Text
    item: dict[str, Any] | None = None


def _verdict_fields() -> dict[str, Any]:
    """The fields of a verdict for pydantic; all but score and label may be left out."""
    hints = get_type_hints(Verdict, include_extras=True)
    return {
        name: (
            get_args(hint)[0] | None,
            Field(... if name in ("score", "label") else None, description=get_args(hint)[1]),
        )
        for name, hint in hints.items()
    }


if TYPE_CHECKING:
    _VerdictFields = BaseModel
else:
    _VerdictFields = create_model("_VerdictFields", **_verdict_fields())


class VerdictBody(_VerdictFields):
    """What a judge says. `score` and `label` are null where it is undecided; fields without a value are left out."""

    model_config = ConfigDict(extra="allow")

    id: str | int | None = None


class PartBody(BaseModel):
    """Characters of the candidate, and how much lower the score is without them; null where that is undecided."""

    text: str
    start: int
    end: int
    effect: float | None


class ExplanationBody(VerdictBody):
    """A verdict with the parts that carried it, and all sentences and words that were left out in turn."""

    judge: str
    carrying: list[PartBody]
    sentences: list[PartBody]
    words: list[PartBody]


class PageMade(BaseModel):
    """The address of a page that was made; it is kept for a while."""

    page: str
    rows: int | None = None
    set_aside: dict[str, int] | None = Field(None, description="How many rows were not judged, by the reason.")


class OneVerdict(VerdictBody):
    """A verdict, and whose it is."""

    judge: str


class ManyVerdicts(BaseModel):
    """Verdicts in the order of the samples, and whose they are."""

    judge: str
    verdicts: list[VerdictBody]


class BertScores(BaseModel):
    """Scores in the order of the candidates."""

    judge: str
    signature: str
    precision: list[float | None]
    recall: list[float | None]
    f1: list[float | None]


class ErrorBody(BaseModel):
    """What went wrong, in a sentence."""

    message: str
    type: str


class Failure(BaseModel):
    """The body of every status from 400 on."""

    error: ErrorBody


_EXPECTED = {
    "string_type": "a text was expected",
    "list_type": "a list was expected",
    "texts_type": "a text, or a list of texts, was expected",
    "dict_type": "an object was expected",
    "model_type": "an object was expected",
    "model_attributes_type": "an object was expected",
    "bool_type": "true or false was expected",
    "int_type": "a whole number was expected",
    "float_type": "a number was expected",
    "half_character": "a name without half characters was expected",
}
_FIELDS = {name for model in (OneRow, ManyRows) for name in model.model_fields}


def sentence(errors: Sequence[Mapping[str, Any]]) -> str:
    """The first of pydantic's errors about a request: where, what was expected, what was given."""
    error = min(errors, key=lambda each: each["type"] != "extra_forbidden")  # which explains what is missing
    kind, place = error["type"], _place(error["loc"])
    if isinstance(error["input"], bytes):
        return "the body was not sent as JSON; add the header Content-Type: application/json."
    if kind == "json_invalid":
        return f"the body is not valid JSON ({error['ctx']['error']}, at byte {error['loc'][-1]})."
    if kind == "missing":
        return f"{place} is missing."
    if kind == "extra_forbidden":
        return f"there is no field {shortened(place)}; {did_you_mean(str(error['loc'][-1]), _FIELDS)}"
    if kind == "too_short":
        return f"{place} is empty; at least one entry was expected."
    if kind == "list_type" and str(error["loc"][-1]).startswith("reference"):
        kind = "texts_type"
    expected = _EXPECTED.get(kind) or error["msg"].lower().removeprefix("input should be ") + " was expected"
    return f"{shortened(place)} is {shown(error['input'])}; {expected}."


def _place(path: Sequence[str | int]) -> str:
    """Where in the body: `samples[2].candidate`."""
    parts = [part for part in path if part not in ("body", "row", "rows")]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
    return text or "the body"
