"""The definition of evidence as data: each line of cases.jsonl names the relation of a value of two texts.

`value` is the part of the candidate that is meant, `reference_value` that of the reference; without either, each text
is one value. `extra` names the extra that the case needs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from bert_judge.reading import Relation, match

Marks = Sequence[tuple[int, int, Relation]]

with Path(__file__).with_name("cases.jsonl").open(encoding="utf-8") as lines:
    CASES: list[dict[str, str]] = [json.loads(line) for line in lines]
KINDS = list(dict.fromkeys(case["kind"] for case in CASES))
ONE_SIDED = {"ASKED", "NONE"}  # the reference's values have other relations
INSTALLED = {"lexical": find_spec("math_verify") is not None}


def relation_at(marks: Marks, text: str, part: str) -> str:
    """The relation of the value that holds the first letter or digit of this part, or its first character."""
    place = text.index(part) + next((i for i, character in enumerate(part) if character.isalnum()), 0)
    return next((relation.name for start, end, relation in marks if start <= place < end), "NONE")


def relation_names(marks: Marks) -> set[str]:
    return {relation.name for _, _, relation in marks if relation.name != "NONE"} or {"NONE"}


def named_relations(case: dict[str, str]) -> set[str]:
    """The relations that the values in question have; exactly one where all is well."""
    candidate, reference = case["candidate"], case["reference"]
    matched = match(candidate, (reference,), case.get("question"))
    if "value" in case:
        return {relation_at(matched.candidate, candidate, case["value"])}
    if "reference_value" in case:
        return {relation_at(matched.references[0], reference, case["reference_value"])}
    if case["relation"] in ONE_SIDED:
        return relation_names(matched.candidate)
    return relation_names(matched.candidate) | relation_names(matched.references[0])


@pytest.mark.parametrize("kind", KINDS)
def test_values_have_the_relation_of_the_definition(kind: str) -> None:
    failing = []
    for number, case in enumerate(CASES, 1):
        if case["kind"] == kind and INSTALLED.get(case.get("extra", ""), True):
            names = named_relations(case)
            if names != {case["relation"]}:
                failing.append(
                    f"cases.jsonl:{number}: {' and '.join(sorted(names))}: {json.dumps(case, ensure_ascii=False)}"
                )
    assert not failing, f"{len(failing)} cases of kind {kind}:\n" + "\n".join(failing)
