"""The limits of `gate` as a document, and as JUnit's XML, which build servers show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from bert_judge.report.document import Document, Table
from bert_judge.studies.gate import Check

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
JUNIT_START = f'{_HEAD}<testsuites name="bert-judge gate"'
"""How every text of `gate_junit` begins."""

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not even escaped


def gate_document(checks: Sequence[Check]) -> Document:
    """A table with a line for each limit."""
    body = [[check.folder, check.name, "missed" if check.missed else "met", check.sentence] for check in checks]
    return Document("Limits", [Table("", ["result", "limit", "", "measured"], body, left=range(4))])


def gate_junit(checks: Sequence[Check]) -> str:
    """As JUnit's XML: a test case for each limit, with a failure where it is missed."""
    tests, missed = str(len(checks)), str(sum(check.missed for check in checks))
    about = {"name": "bert-judge gate", "tests": tests, "failures": missed, "errors": "0", "time": "0"}
    suites = ElementTree.Element("testsuites", about)
    suite = ElementTree.SubElement(suites, "testsuite", about | {"skipped": "0"})
    for check in checks:
        folder, sentence = (_NOT_XML.sub("\ufffd", text) for text in (check.folder, check.sentence))
        case = ElementTree.SubElement(suite, "testcase", {"classname": folder, "name": check.name, "time": "0"})
        failed = {"message": sentence, "type": "missed"}
        result = ElementTree.SubElement(case, *(("failure", failed) if check.missed else ("system-out",)))
        result.text = sentence
    ElementTree.indent(suites)
    return f"{_HEAD}{ElementTree.tostring(suites, 'unicode')}\n"
