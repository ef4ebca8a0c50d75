"""A short run of TRL's GRPO with a judge as its reward: `pip install trl`, then `python examples/grpo.py`.

A tiny language model, made here, first learns 24 questions with answers of which some are right. GRPO then rewards
what the judge finds correct, and the rate of right answers rises. It needs no GPU.
"""

from __future__ import annotations

import argparse
import random
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import bert_judge

CAPITALS = (
    "France Paris, Germany Berlin, Italy Rome, Spain Madrid, Portugal Lisbon, Austria Vienna, Greece Athens, "
    "Norway Oslo, Sweden Stockholm, Finland Helsinki, Poland Warsaw, Hungary Budapest, Ireland Dublin, Egypt Cairo, "
    "Japan Tokyo, China Beijing, Cuba Havana, Peru Lima, Kenya Nairobi, Russia Moscow, Turkey Ankara, Iraq Baghdad, "
    "Belgium Brussels, Canada Ottawa"
)
ANSWERS = dict(pair.split() for pair in CAPITALS.split(", "))
FORMS = ("{}", "It is {}.", "The answer is {}.")
RIGHT = 0.4  # of the answers that the model first learns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judge", default="starter", help="the judge of the reward (default: starter)")
    parser.add_argument("--steps", type=int, default=40, help="steps of GRPO (default: 40)")
    parser.add_argument("--fit_steps", type=int, default=200, help="steps of the first fit (default: 200)")
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    fit(model, tokenizer, args.fit_steps)
    before = right_answers(model, tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model,
            reward_funcs=bert_judge.rewards.correctness(args.judge),
            args=settings(folder, args.steps),
            train_dataset=Dataset.from_list([row(country) for country in ANSWERS]),
            processing_class=tokenizer,
        )
        trainer.train()
    rewards = [log["reward"] for log in trainer.state.log_history if "reward" in log]
    print("reward   " + "  ".join(f"{reward:.2f}" for reward in rewards))
    after = right_answers(model, tokenizer)
    print(f"right of {len(ANSWERS) * 20} sampled answers: {before:.0%} before, {after:.0%} after")


def settings(folder: str, steps: int) -> GRPOConfig:
    return GRPOConfig(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=48,
        num_generations=8,
        max_completion_length=12,
        learning_rate=5e-4,
        lr_scheduler_type="constant",
        logging_steps=max(1, steps // 10),
        save_strategy="no",
        report_to="none",
        bf16=False,
        dataloader_pin_memory=False,
        disable_tqdm=True,
    )


def row(country: str) -> dict[str, str]:
    question = f"What is the capital of {country}?"
    return {"prompt": f"{question}\n", "question": question, "reference": ANSWERS[country]}


def sampled_answer(country: str) -> str:
    """Right 4 times in 10, else one of three wrong ones."""
    others = random.Random(country).sample([city for name, city in ANSWERS.items() if name != country], 3)
    city = ANSWERS[country] if random.random() < RIGHT else random.choice(others)
    return random.choice(FORMS).format(city)


def make_tokenizer() -> PreTrainedTokenizerFast:
    texts = [row(country)["prompt"] + form.format(city) for country, city in ANSWERS.items() for form in FORMS]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "</s>"]
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", padding_side="left")


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config)


def fit(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, steps: int) -> None:
    """Learn answers of which some are right."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(steps):
        countries = random.choices(list(ANSWERS), k=32)
        texts = [row(country)["prompt"] + sampled_answer(country) + tokenizer.eos_token for country in countries]
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()


@torch.no_grad()
def right_answers(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> float:
    """The rate of 20 sampled answers to each question that hold the right city."""
    model.eval()
    countries = [country for country in ANSWERS for _ in range(20)]
    batch = tokenizer([row(country)["prompt"] for country in countries], return_tensors="pt", padding=True)
    ids = model.generate(
        input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=12, do_sample=True
    )
    texts = tokenizer.batch_decode(ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    model.train()
    return sum(ANSWERS[country] in text for country, text in zip(countries, texts, strict=True)) / len(texts)


if __name__ == "__main__":
    main()
