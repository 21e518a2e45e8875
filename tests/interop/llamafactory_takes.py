"""LlamaFactory prepares an exported folder by its `dataset_info.json`. Prints what it made of the rows as JSON.

Usage: python llamafactory_takes.py FOLDER WORK MASK_HISTORY
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import tiny
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer


def main(folder: str, work: str, mask_history: str) -> None:
    tiny.save(Path(work) / "model")
    model_args, data_args, training_args, _, _ = get_train_args(
        {
            "stage": "sft",
            "do_train": True,
            "model_name_or_path": f"{work}/model",
            "finetuning_type": "full",
            "template": "qwen3",
            "dataset_dir": folder,
            "dataset": "train",
            "eval_dataset": "validation",
            "mask_history": mask_history == "true",
            "cutoff_len": 1_000_000,
            "output_dir": f"{work}/out",
            "cache_dir": f"{work}/cache",
            "use_cpu": True,
            "report_to": "none",
        }
    )
    module = load_tokenizer(model_args)
    template = get_template_and_fix_tokenizer(module["tokenizer"], data_args)
    made = get_dataset(template, model_args, data_args, training_args, stage="sft", **module)
    tokenizer = module["tokenizer"]
    rows = []
    for row in made["train_dataset"]:
        taught = [id_ for id_, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
        rows.append({"text": tokenizer.decode(row["input_ids"]), "taught": tokenizer.decode(taught)})
    print(json.dumps({"version": version("llamafactory"), "rows": rows, "validation": len(made["eval_dataset"])}))


if __name__ == "__main__":
    main(*sys.argv[1:])
