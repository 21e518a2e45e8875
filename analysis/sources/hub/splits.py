"""Configurations and splits of a data set, as its card names them: `hub:OWNER/NAME:CONFIG/SPLIT` -> its files.

`datasets` says which files these are. It is asked for its builder only, never for its Arrow copy: the files are
fetched and read as any other.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from analysis.sources.hub.names import HubError, HubName, near


def files_of(wanted: HubName, commit: str) -> list[str]:
    """The files of a configuration, a split of the only one, or CONFIG/SPLIT.

    Raises:
        HubError: `datasets` finds neither; the message lists what there is.
    """
    with _in_silence():
        configs = _configs(wanted, commit)
        names = [*configs, *(f"{config}/{split}" for config, splits in configs.items() for split in splits)]
        config, _, split = str(wanted.file).partition("/")
        if config not in configs and not split and len(configs) == 1:
            config, split = next(iter(configs)), config
        splits = configs.get(config, {})
        if config not in configs or (split and split not in splits):
            raise HubError(
                f"{wanted}: no file, configuration or split {wanted.file!r}.{near(str(wanted.file), names)} "
                f"There are: {', '.join(names[:20])}."
            )
    return [file for name, files in splits.items() if split in ("", name) for file in files]


def _configs(wanted: HubName, commit: str) -> dict[str, dict[str, list[str]]]:
    """The files by split, by configuration."""
    from datasets import get_dataset_config_names, load_dataset_builder  # noqa: PLC0415  seconds
    from datasets.exceptions import DataFilesNotFoundError  # noqa: PLC0415

    try:
        names = get_dataset_config_names(wanted.repository, revision=commit)
        builders = {name: load_dataset_builder(wanted.repository, name, revision=commit) for name in names}
    except (DataFilesNotFoundError, RuntimeError, ValueError) as error:
        raise HubError(f"{wanted}: no file {wanted.file!r}, and no splits: {error}") from error
    start = f"@{commit}/"
    return {
        name: {str(split): [file.partition(start)[2] for file in files] for split, files in data_files.items()}
        for name, builder in builders.items()
        if (data_files := builder.config.data_files)
    }


@contextmanager
def _in_silence() -> Iterator[None]:
    """The library draws no bars, and tells no other host that somebody loads the set."""
    from datasets import config, utils  # noqa: PLC0415

    card = logging.getLogger("huggingface_hub.repocard")  # warns of cards without metadata
    before, had_bars = config.HF_UPDATE_DOWNLOAD_COUNTS, utils.logging.is_progress_bar_enabled()
    utils.logging.disable_progress_bar()
    config.HF_UPDATE_DOWNLOAD_COUNTS, card.disabled = False, True
    try:
        yield
    finally:
        config.HF_UPDATE_DOWNLOAD_COUNTS, card.disabled = before, False
        if had_bars:
            utils.logging.enable_progress_bar()
