"""Settings files, in YAML or JSON: judges, flags, training mixes."""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any, Final

from bert_judge.errors import InputError, first_line

LARGEST: Final = 1 << 20
"""The most bytes of such a file; YAML is parsed at about 100 KB per second."""

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 100
_repr.maxlevel = _repr.maxlist = _repr.maxdict = 2


def shown(value: object) -> str:
    """A value in a message, shortened: YAML values can repeat each other, so their full text has no bound."""
    return str(value).lower() if isinstance(value, bool) else _repr.repr(value)


def read_yaml(path: Path, name: str) -> Any:
    """The content of a YAML file. Messages call the file `name`.

    Raises InputError for a file that can't be read, is too large, is not UTF-8, or is not YAML.
    """
    import yaml

    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{name} {path} has over {LARGEST >> 20} MiB; a file of settings was expected.")
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name} {path} can't be read ({error.strerror}); a YAML file was expected.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start + 1}); save it so.") from error
    except RecursionError as error:
        raise InputError(f"{path} is not valid YAML (it is nested too deeply).") from error
    # ValueError and TypeError: an impossible date, a number of thousands of digits, a list as a key.
    except (yaml.YAMLError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        cause = "a number has thousands of digits" if "digits" in str(error) else first_line(error)
        raise InputError(f"{path} is not valid YAML ({cause}).") from error
