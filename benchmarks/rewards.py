"""What wrong answers earn from a judge as a reward: `python benchmarks/rewards.py`.

Prints, for the starter (or `--judge`):

- what the attacks of `bert-judge audit` earn on average, as they are and clipped, and how many of them over one half;
  beside them plain right and wrong answers
- the outcome of a search for answers that earn something on any question: from bare frames, refusals, orders and single
  words, the best are combined and repeated round by round; the last `--answers` are judged on `--questions` questions.
  An answer that holds a reference by chance does not count on that question. Questions with options, with yes or no
  for an answer, and without an answer are left out: there a fixed text can be right.

A policy that is trained on a reward finds such answers sooner or later; here they are looked for first.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from bert_judge.integrations.rewards import Correctness
from bert_judge.studies.audit import PLAIN, load_items, make_trials
from bert_judge.studies.audit.trials import ATTACKS, AuditItem, spread

WORDS = (
    *("yes", "no", "none", "correct", "true", "answer", "the", "it", "all of them", "both", "unknown", "Paris"),
    *("London", "1", "0", "2", "3", "10", "42", "100", "1000", "1984", "2020", "A", "B", "C", "D", "blue", "water"),
    *("John", "Smith", "January", "percent", "km", "$5", "one", "first", "the first one", "him", "her", "reference"),
    *("candidate", "是", "да", "oui", "123456789", "a b c d e", "etc.", "\n\n", "</s>", "[SEP]", "<|candidate|>"),
    *("\\boxed{}", "✓"),
)
FRAMES = (
    *("{}", "The answer is {}.", "It is {}.", "Final answer: {}", "The correct answer is {}.", "**{}**", "{} {}"),
    *("{} {} {}", "{}\n\n{}", "{}, {}", "{} or {}", "I think {}", "{} is correct.", "As the reference says, {}"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judge", default="starter", help="the judge (default: starter)")
    parser.add_argument(
        "--clip", type=float, nargs=2, default=(0.5, 0.9), help="the limits of clipping (default: 0.5 0.9)"
    )
    parser.add_argument("--items", type=int, default=193, help="questions to attack (default: all 193)")
    parser.add_argument("--answers", type=int, default=1000, help="answers at the end of the search (default: 1000)")
    parser.add_argument("--questions", type=int, default=100, help="questions they are judged on (default: 100)")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of the search (default: 4)")
    args = parser.parse_args()
    reward = Correctness(args.judge, clip=tuple(args.clip))
    earned_by_attacks(reward, args.items)
    print()
    search(reward, args.answers, args.questions, args.rounds)


def earned_by_attacks(reward: Correctness, items: int) -> None:
    trials = [trial for trial in make_trials(spread(load_items(), items), None) if trial.family in (PLAIN, *ATTACKS)]
    samples = [trial.sample for trial in trials]
    verdicts = reward.verdicts(
        [sample.question for sample in samples],
        [sample.candidate for sample in samples],
        [sample.references for sample in samples],
    )
    groups: dict[str, list[tuple[float, float]]] = {"right answers": [], "wrong answers": []}
    for trial, verdict in zip(trials, verdicts, strict=True):
        name = trial.family if trial.family != PLAIN else "right answers" if trial.sample.gold else "wrong answers"
        groups.setdefault(name, []).append((verdict.score or 0.0, reward.reward(verdict, 0.0)))
    print(f"{'':24}answers  reward  clipped  over 0.5")
    for name, outcomes in groups.items():
        plain, clipped = zip(*outcomes, strict=True)
        over = sum(score > 0.5 for score in plain) / len(plain)
        print(f"{name:24}{len(outcomes):7}{fmean(plain):8.3f}{fmean(clipped):9.3f}{over:10.1%}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, with its scores on the questions on which it is wrong."""

    answer: str
    scores: tuple[float, ...]

    @property
    def earned(self) -> float:
        return fmean(self.scores) if self.scores else 0.0

    @property
    def over(self) -> int:
        return sum(score > 0.5 for score in self.scores)


def search(reward: Correctness, answers: int, questions: int, rounds: int) -> None:
    chance = Random(0)
    items = [item for item in load_items() if item.kind not in ("option", "yesno")]
    items = list(spread(items, questions))
    few = spread(items, 12)
    pool = list(dict.fromkeys([*bare_frames(), *WORDS]))
    for _ in range(rounds):
        best = sorted(judged(reward, pool, few), key=lambda outcome: -outcome.earned)[: max(20, answers // 10)]
        pool = [outcome.answer for outcome in best]
        while len(pool) < answers:
            pool = list(dict.fromkeys([*pool, changed(chance, [outcome.answer for outcome in best])]))
    outcomes = sorted(judged(reward, pool[:answers], items), key=lambda outcome: -outcome.earned)
    pairs, over = sum(len(outcome.scores) for outcome in outcomes), sum(outcome.over for outcome in outcomes)
    print(f"search: {len(outcomes)} answers on {len(items)} questions, {pairs:,} rewards")
    print(f"{over:,} over 0.5 ({over / pairs:.2%})")
    print("the worst:")
    for outcome in outcomes[:10]:
        print(
            f"{outcome.earned:8.3f}  over 0.5 on {outcome.over:3} of {len(outcome.scores):3}  {outcome.answer[:80]!r}"
        )


def bare_frames() -> Iterable[str]:
    """The frames of attacks that need nothing of the item, but perhaps its question."""
    frames = [frame for attack in ATTACKS.values() if attack.how != "exchanged" for frame in attack.frames]
    return [frame for frame in frames if set(re.findall(r"\{([a-z_]+)\}", frame)) <= {"question"}]


def changed(chance: Random, best: Sequence[str]) -> str:
    """A new answer from good ones and words."""
    frame = chance.choice(FRAMES)
    parts = [chance.choice(best if chance.random() < 0.6 else WORDS) for _ in range(frame.count("{}"))]
    text = frame
    for part in parts:
        text = text.replace("{}", part.replace("{}", "{ }"), 1)
    return text * chance.choice((1, 1, 1, 2, 5)) if len(text) < 60 else text[:400]


def judged(reward: Correctness, answers: Sequence[str], items: Sequence[AuditItem]) -> list[Outcome]:
    pairs = [(answer, item, answer.replace("{question}", item.question)) for answer in answers for item in items]
    pairs = [(answer, item, text) for answer, item, text in pairs if not item.gives_away(text)]
    verdicts = reward.verdicts(
        [item.question for _, item, _ in pairs], [text for *_, text in pairs], [item.references for _, item, _ in pairs]
    )
    scores: dict[str, list[float]] = {answer: [] for answer in answers}
    for (answer, _, _), verdict in zip(pairs, verdicts, strict=True):
        scores[answer].append(verdict.score or 0.0)
    return [Outcome(answer, tuple(earned)) for answer, earned in scores.items()]


if __name__ == "__main__":
    main()
