"""What the hub's answers mean for the one who asked."""

from typing import TYPE_CHECKING

from analysis.sources.hub.names import HubName, near

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

LOG_IN = "log in with `hf auth login` or set HF_TOKEN"


def trouble(error: BaseException) -> str:
    """Why the hub gave no answer that counts, as half a sentence."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled  # noqa: PLC0415

    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE forbids asking the hub"
    if not isinstance(error, HfHubHTTPError):
        return f"the hub cannot be reached ({type(error).__name__}: {error})"
    status = error.response.status_code
    if status == 429:
        wait = error.response.headers.get("Retry-After")
        return "the hub asks for a pause (429, too many requests" + (f"; try again in {wait} s)" if wait else ")")
    return f"the hub is out of order ({status})"


def refusal(error: "HfHubHTTPError", wanted: HubName, api: "HfApi") -> str:
    """What a 4xx answer means for the one who asked, with the nearest names that would have worked."""
    from huggingface_hub import errors  # noqa: PLC0415

    status = error.response.status_code
    had_token = "authorization" in error.response.request.headers
    match error:
        case errors.GatedRepoError():
            says = f"gated ({status}): its owner grants access on the data set's page; ask there, then {LOG_IN}."
        case errors.DisabledRepoError():
            says = f"the hub has disabled this data set ({status})."
        case errors.RevisionNotFoundError():
            says = f"no revision {wanted.revision!r} ({status}).{_revisions(wanted, api)}"
        case errors.RemoteEntryNotFoundError():
            says = f"the hub lists the file and does not have it ({status}); tell the owner of the data set."
        case _ if status == 401 and had_token:
            says = f"the hub refused the token (401); {LOG_IN} anew."
        case _ if status in (401, 404):
            nearest = _nearest_repository(wanted, api)
            says = f"no public data set of this name ({status}).{nearest} If it is private, {LOG_IN}."
        case _ if status == 403:
            says = f"access denied (403): the token in use does not permit reading it; {LOG_IN} with one that does."
        case _:
            says = f"the hub answered {status}: {error.server_message or error}"
    return f"{wanted}: {says}"


def _nearest_repository(wanted: HubName, api: "HfApi") -> str:
    owner, name = wanted.repository.split("/")
    try:
        others = [dataset.id.split("/")[1] for dataset in api.list_datasets(author=owner, limit=200)]
    except Exception:  # a courtesy inside a message must not replace the message
        return ""
    return near(name, others)


def _revisions(wanted: HubName, api: "HfApi") -> str:
    try:
        refs = api.list_repo_refs(wanted.repository, repo_type="dataset")
    except Exception:  # as above
        return ""
    names = [ref.name for ref in [*refs.branches, *refs.tags]]
    return f" There are: {', '.join(names[:20])}." if names else ""
