"""TRL prepares an exported folder and trains one step on it. Prints what it made of the rows as JSON.

Usage: python trl_takes.py FOLDER WORK
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import tiny
import trl
from datasets import load_dataset


def main(folder: str, work: str) -> None:
    dataset = load_dataset(folder, cache_dir=f"{work}/cache")
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    tokenizer = tiny.tokenizer(template.read_text(encoding="utf-8"))
    trainer = trl.SFTTrainer(
        model=tiny.model(len(tokenizer)),
        args=trl.SFTConfig(
            output_dir=f"{work}/out",
            max_length=None,
            assistant_only_loss=True,
            max_steps=1,
            per_device_train_batch_size=1,
            bf16=False,
            use_cpu=True,
            report_to="none",
            save_strategy="no",
        ),
        train_dataset=dataset["train"],
        eval_dataset=dataset["validation"],
        processing_class=tokenizer,
    )
    rows = []
    for row in trainer.train_dataset:
        taught = [id_ for id_, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
        rows.append({"text": tokenizer.decode(row["input_ids"]), "taught": tokenizer.decode(taught)})
    loss = trainer.train().training_loss
    held_out = len(trainer.eval_dataset)
    print(json.dumps({"version": version("trl"), "rows": rows, "validation": held_out, "loss": loss}))


if __name__ == "__main__":
    main(*sys.argv[1:])
