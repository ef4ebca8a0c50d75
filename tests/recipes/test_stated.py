"""Answers as whole sentences, made from their questions."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "starter"))

from made.stated import stated

CASES = [
    ("What is the capital of Peru?", "Lima", "The capital of Peru is Lima."),
    ("what's the capital of peru", "Lima", "The capital of peru is Lima."),
    ("What is 3 + 4?", "7", "3 + 4 is 7."),
    ("Who wrote Emma?", "Jane Austen", "Jane Austen wrote Emma."),
    ("Who was the first man on the moon?", "Neil Armstrong", "Neil Armstrong was the first man on the moon."),
    ("Who did Napoleon marry in 1810?", "Marie Louise", "Napoleon married Marie Louise in 1810."),
    ("Who did Napoleon fight against?", "the Austrians", "Napoleon fought against the Austrians."),
    ("When was Einstein born?", "14 March 1879", "Einstein was born on 14 March 1879."),
    ("When was Einstein born?", "1879", "Einstein was born in 1879."),
    ("When was Einstein born?", "in 1879", "Einstein was born in 1879."),
    ("When was Einstein born?", "Ulm", None),
    ("In which year did the war end?", "1945", "The war ended in 1945."),
    ("What year did the war begin?", "1939", "The war began in 1939."),
    ("When does the shop open?", "8:30 am", "The shop opens at 8:30 am."),
    ("When was the first iPhone released?", "June 29, 2007", "The first iPhone was released on June 29, 2007."),
    ("How many legs does a spider have?", "8", "A spider has 8 legs."),
    ("How many goals did Pele score in 1958?", "1", "Pele scored 1 goal in 1958."),
    ("How many states are there in Brazil?", "26", "There are 26 states in Brazil."),
    ("How many people died in the fire?", "over 300", "Over 300 people died in the fire."),
    ("How many yards was the longest kick?", "47", "The longest kick was 47 yards."),
    ("How many legs does a spider have?", "a lot of silk", None),
    ("When was the last time Kentucky won?", "2012", "The last time Kentucky won was in 2012."),
    ("Which team had more people wounded, Rome or Carthage?", "Rome", "Rome had more people wounded."),
    ("Where is the Louvre?", "Paris", "The Louvre is in Paris."),
    ("Where is the Louvre located?", "in Paris", "The Louvre is located in Paris."),
    ("Where does the Rhine come from?", "the Alps", "The Rhine comes from the Alps."),
    ("In what country is the Taj Mahal located?", "India", "The Taj Mahal is located in India."),
    ("What city is the Louvre in?", "Paris", "The Louvre is in Paris."),
    ("What did Fleming discover?", "penicillin", "Fleming discovered penicillin."),
    ("What did Ford use to build cars?", "steel", "Ford used steel to build cars."),
    ("What does a barometer measure?", "air pressure", "A barometer measures air pressure."),
    ("Which planet is the largest?", "Jupiter", "Jupiter is the largest."),
    ("What novel was written by Emily Bronte?", "Wuthering Heights", "Wuthering Heights was written by Emily Bronte."),
    ("Which river is longer, the Nile or the Rhine?", "the Nile", "The Nile is longer."),
    ("Name the largest ocean.", "the Pacific", "The largest ocean is the Pacific."),
    ("The film was directed by which Danish actor?", "Bille August", "The film was directed by Bille August."),
    ("According to the text, who led the army?", "Pompey", "According to the text, Pompey led the army."),
    ("How long is the river?", "3,000 km", None),
    ("Is there a bridge to the island?", "No", None),
    ("Who wrote Emma?", "Unanswerable", None),
    ("How many years did the siege last?", "2", "The siege lasted 2 years."),
    ("How many months after the sale did she stay?", "3", "She stayed 3 months after the sale."),
    ("What is the steam turbine connected to?", "a dynamo", "The steam turbine is connected to a dynamo."),
    ("Who wrote Emma?", "yes", None),
    ("What is iron?\n(A) a metal\n(B) a gas", "(A) a metal", None),
    ("Tom has 3 apples. He eats one. How many apples does Tom have?", "2", None),
    ("Who wrote Emma?", "a woman of whom little was known in her own time", None),
    ("How many years after the war did", "3", None),
    ("", "Lima", None),
    ("Who wrote Emma?", "", None),
]


def test_stated() -> None:
    for question, answer, expected in CASES:
        assert stated(question, answer) == expected, question
