"""A judge's way to the Hub."""

from __future__ import annotations

import re
from pathlib import Path

from bert_judge.errors import InputError, OutputError, first_line
from bert_judge.training.folder import RUNS, STATES


def check_hub(repository: str) -> None:
    """Raise InputError where an upload can't succeed, as far as that shows without a network."""
    from huggingface_hub import get_token

    if not re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", repository):
        raise InputError(f"push_to_hub is {repository!r}; ORGANISATION/NAME was expected.")
    if get_token() is None:
        raise InputError(
            f"push_to_hub names {repository}, but there is no token for the Hub; log in with `hf auth login`, or set "
            "HF_TOKEN."
        )


def push(folder: Path, repository: str, private: bool) -> None:
    """Upload a judge's folder, without states and logs. Raises OutputError where that fails."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError is of the client that it is built on
        HfHubHTTPError,
        HTTPError,
    )

    try:
        api = HfApi()
        name = api.create_repo(repository, private=private or None, exist_ok=True).repo_id
        api.upload_folder(
            repo_id=name,
            folder_path=folder,
            commit_message="A judge trained with bert-judge",
            ignore_patterns=[f"{STATES}/*", f"{RUNS}/*", "*.partial"],
        )
    except (HfHubHTTPError, HTTPError, OSError, ValueError) as error:
        raise OutputError(
            f"the judge is whole in {folder}, but could not be uploaded to {repository} ({first_line(error)}); start "
            "the same training again, which uploads it without training."
        ) from error
