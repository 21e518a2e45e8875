"""How many notebooks may run at once under this process's limit of open files."""

from analysis.parameters import ParameterError

# Open at once, as measured: what this process needs, what it needs per notebook it executes, and what a kernel needs.
OWN, PER_NOTEBOOK, KERNEL = 48, 16, 96
# No more is asked for than this, where a limit can be raised.
ENOUGH = 4096


def affordable(jobs: int) -> int:
    """As many notebooks at once as were asked for, or as few as the limit allows; it is raised where it can be.

    Raises:
        ParameterError: it does not do for one.
    """
    limit = raised()
    if limit < KERNEL:
        raise ParameterError(
            f"a kernel opens {KERNEL} files and this process may open {limit}; allow more: ulimit -n 1024"
        )
    return max(1, min(jobs, (limit - OWN) // PER_NOTEBOOK))


def raised() -> int:
    """The limit of open files, raised as far as it goes; processes started afterwards have the same."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return ENOUGH
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= ENOUGH:
        return ENOUGH
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
