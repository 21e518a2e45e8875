"""The scripts are for other environments: their imports are not there in this one."""

collect_ignore = ["llamafactory_takes.py", "tiny.py", "trl_takes.py"]
