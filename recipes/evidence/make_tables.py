"""Make the tables that values in texts are read with: units, numbers in words, months, function words, languages.

    python -m venv build/tables
    build/tables/bin/pip install pint==0.25.3 babel==2.18.0 num2words==0.5.14 wordfreq==3.1.1
    build/tables/bin/python recipes/evidence/make_tables.py

Sizes of units come from Pint, names of units, currencies and months in other languages from Unicode's CLDR (through
Babel), numbers in words from num2words, and what is a common word of English from wordfreq. Which of them are read is
chosen in the text files beside. Writes JSON to src/bert_judge/reading/tables; the same each time.
"""

from __future__ import annotations

import json
from pathlib import Path

from calendars import month_table
from counting import number_table
from languages import language_table
from vocabulary import word_table

from measures import unit_table

TABLES = Path(__file__).parents[2] / "src" / "bert_judge" / "reading" / "tables"


def main() -> None:
    TABLES.mkdir(exist_ok=True)
    for name, table in (
        ("units", unit_table()),
        ("numbers", number_table()),
        ("months", month_table()),
        ("words", word_table()),
        ("languages", language_table()),
    ):
        text = json.dumps(table, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        (TABLES / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}.json: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
