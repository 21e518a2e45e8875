"""A tokenizer and a model of a few kilobytes, made here: nothing is downloaded."""

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

MARKERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokenizer(chat_template: str = "") -> Any:
    """One token a byte, and the markers of Qwen's template."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE(vocab={char: at for at, char in enumerate(alphabet)}, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.add_special_tokens(MARKERS)
    made = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    made.chat_template = chat_template or None
    return made


def save(folder: Path) -> None:
    """A folder that `from_pretrained` reads: the tokenizer, and the model with it."""
    made = tokenizer()
    made.save_pretrained(folder)
    model(len(made)).save_pretrained(folder)


def model(vocabulary: int) -> Any:
    """A Qwen3 of one layer."""
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=vocabulary,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            max_position_embeddings=65_536,
        )
    )
