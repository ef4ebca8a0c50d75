"""Rows of our own for the data sets that tasks read (with the columns that matter), by configuration and split."""

from __future__ import annotations

from pathlib import Path

Rows = list[dict]


def arc(subject: str) -> Rows:
    return [
        {
            "question": f"Which of these does {subject} study?",
            "choices": {"text": ["stars", "stones", "plants"], "label": ["A", "B", "C"]},
            "answerKey": "B",
        },
        {
            "question": f"What is needed for {subject}?",
            "choices": {"text": ["a lens", "a hammer", "a map", "a rope"], "label": ["1", "2", "3", "4"]},
            "answerKey": "4",
        },
    ]


def mmlu(subject: str) -> Rows:
    return [{"question": f"Which number is {subject}?", "choices": ["one", "two", "three", "four"], "answer": 2}]


def squad(place: str) -> Rows:
    context = f"The bridge of {place} was built in 1871 by masons from the north."
    row = {"id": "a", "title": place, "context": context}
    known = {"text": ["1871", "in 1871"], "answer_start": [30, 27]}
    return [
        {**row, "question": "When was the bridge built?", "answers": known},
        {**row, "question": "Who paid for the bridge?", "answers": {"text": [], "answer_start": []}},
    ]


def hotpot(name: str) -> Rows:
    return [
        {
            "question": f"In which country was the author of {name} born?",
            "answer": "Portugal",
            "supporting_facts": {"title": [name, "Ana Reis", name], "sent_id": [0, 1, 1]},
            "context": {
                "title": ["Tin mining", name, "Ana Reis"],
                "sentences": [
                    ["Tin has been mined for long."],
                    [f"{name} is a novel.", " It was written by Ana Reis."],
                    ["Ana Reis is a writer.", " She was born in Portugal."],
                ],
            },
        }
    ]


def gsm8k(number: int) -> Rows:
    return [
        {
            "question": f"A crate holds {number} pears. How many pears do 500 crates hold?",
            "answer": f"One crate holds {number}.\n500 hold 500*{number}=<<500*{number}={500 * number}>>{500 * number}."
            f"\n#### {500 * number:,}",
        }
    ]


def math(problem: str, solution: str) -> dict:
    return {"problem": problem, "level": "Level 3", "solution": solution}


SUBJECTS = "algebra counting_and_probability geometry intermediate_algebra number_theory prealgebra precalculus".split()

MATH_TEST = [
    math("Divide nine by seven.", r"Dividing gives $\boxed{\frac{9}{7}}$."),
    math("Give the root.", r"First $\boxed{x}$ is found, and then $x = \boxed{-\frac{1}{\sqrt{2^{3}}}}$."),
    math("Which set is it?", r"It is $\boxed{\left\{ 1, 2 \right\}}$."),
    math("Add one and one.", r"Clearly it is $\boxed 2$."),
    math("Prove it.", "It is easy to see."),
]

ASDIV = [
    ("9 (apples)", "9"),
    ("383", "383"),
    ("Yes", "Yes"),
    ("5:45", "5:45"),
    ("17 (red pens); 12 (blue pens)", "17; 12"),
    ("2/3 (of the (whole) cake)", "2/3"),
    ("4; 6", "4; 6"),
    ("(3, 5)", "(3, 5)"),
    ("$0.50", "$0.50"),
]

COQA = [
    {
        "story": "Mira lost her hat. She found it in the barn.",
        "questions": {"input_text": ["What did Mira lose?", "Where was it?"], "turn_id": [1, 2]},
        "answers": {"input_text": ["her hat", "in the barn"]},
    }
]


def drop(spans: list[str]) -> dict:
    return {
        "passage": "The home team scored in the 3rd and in the 70th minute; the guests scored once.",
        "question": f"How many goals ({len(spans)})?",
        "answers_spans": {"spans": spans, "types": ["number"] * len(spans)},
    }


def gpqa(question: str, right: str, *wrong: str) -> dict:
    options = {f"Incorrect Answer {number}": text for number, text in enumerate(wrong, 1)}
    return {"Question": question, "Correct Answer": right, **options}


GPQA = [
    gpqa("Which of these particles has no charge?\n", "neutron\n", "proton", "electron", "positron"),
    gpqa("Which of these metals is liquid at 20 °C?", "mercury", "iron", "gold", "tin"),
]

TRUTHFUL_QA = [
    {
        "question": "What happens if you swallow an apple seed?",
        "mc1_targets": {"choices": ["Nothing happens", "A tree grows in you", "You fall asleep"], "labels": [1, 0, 0]},
    }
]

MMLU_PRO = [{"question": "Which letter is the tenth?", "options": list("abcdefghij"), "answer": "J", "answer_index": 9}]

DATA: dict[tuple[str, str | None, str], Rows] = {
    **{
        ("allenai/ai2_arc", config, split): arc(f"{config} {split}")
        for config in ("ARC-Easy", "ARC-Challenge")
        for split in ("train", "test")
    },
    ("cais/mmlu", "all", "auxiliary_train"): mmlu("trained on"),
    ("cais/mmlu", "all", "test"): mmlu("tested"),
    ("TIGER-Lab/MMLU-Pro", None, "test"): MMLU_PRO,
    ("Idavidrein/gpqa", "gpqa_main", "train"): GPQA,
    ("truthfulqa/truthful_qa", "multiple_choice", "validation"): TRUTHFUL_QA,
    ("rajpurkar/squad_v2", None, "train"): squad("Alda"),
    ("rajpurkar/squad_v2", None, "validation"): squad("Bern"),
    ("hotpotqa/hotpot_qa", "distractor", "train"): hotpot("The Mill"),
    ("hotpotqa/hotpot_qa", "distractor", "validation"): hotpot("The Well"),
    ("EleutherAI/coqa", None, "validation"): COQA,
    ("ucinlp/drop", None, "validation"): [drop(["2", "2"]), drop(["2", "two"]), drop(["3"]), drop([])],
    ("openai/gsm8k", "main", "train"): gsm8k(3),
    ("openai/gsm8k", "main", "test"): gsm8k(4),
    **{
        ("EleutherAI/hendrycks_math", subject, split): rows
        for subject in SUBJECTS
        for split, rows in [
            ("train", [math(f"A problem of {subject}.", r"So it is $\boxed{7}$.")]),
            ("test", MATH_TEST if subject == "algebra" else [math(f"One of {subject}.", r"So it is $\fbox{8}$.")]),
        ]
    },
    ("math-ai/aime24", None, "test"): [{"id": 1, "problem": "Find it.", "solution": r"It is $\boxed{073}$."}],
    ("math-ai/aime25", None, "test"): [{"problem": "Find it again.", "answer": "588", "id": "0"}],
    ("EleutherAI/asdiv", None, "validation"): [
        {"body": "Some things are there. ", "question": f"How many ({number})?", "answer": answer, "formula": "1+1=2"}
        for number, (answer, _) in enumerate(ASDIV)
    ],
}


def save_all(folder: Path) -> None:
    """Lay the data sets out as the paper's package expects them in LOCAL_DATASETS_DIR: NAME/CONFIG/SPLIT."""
    from datasets import Dataset

    for (dataset, config, split), rows in DATA.items():
        place = folder / dataset.split("/")[-1] / (config or "") / split
        Dataset.from_list(rows).save_to_disk(str(place))
