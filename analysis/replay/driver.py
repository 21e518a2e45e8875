"""What the sandbox is told beside the environment's code: how a call is made, a state read, a check asked.

A text that Monty runs; nothing of it runs here. Each function answers with lists of texts.
"""

LONGEST_RESULT = 1 << 20
LONGEST_ERROR = 10_000

DRIVER = f"""
import copy as _replay_copy

def _replay_start(cls, config):
    env = cls()
    for name, value in config.items():
        setattr(env, name, _replay_copy.deepcopy(value))
    return env

def _replay_call(name, arguments):
    method = getattr(_replay_env, name, None)
    if method is None:
        return ["absent", "", ""]
    try:
        value = method(**arguments)
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:{LONGEST_ERROR}]]
    return ["returned", "", str(value)[:{LONGEST_RESULT}]]

def _replay_key(item, place):
    if isinstance(item, dict):
        for key in item:
            if key == "id" or str(key).endswith("_id"):
                return str(item[key])
    return str(place)

def _replay_read(names):
    state = {{}}
    for name in names:
        if not hasattr(_replay_env, name):
            continue
        value = getattr(_replay_env, name)
        if isinstance(value, dict):
            for key in value:
                state[name + "/" + str(key)] = str(value[key])
        elif isinstance(value, (list, tuple)):
            place = 0
            for item in value:
                state[name + "/" + _replay_key(item, place)] = str(item)
                place += 1
        else:
            state[name] = str(value)
    return state

def _replay_changes(names):
    global _replay_before
    after = _replay_read(names)
    before = _replay_before
    if after == before:
        return [[], [], []]
    _replay_before = after
    return [
        [key for key in after if key not in before],
        [key for key in after if key in before and after[key] != before[key]],
        [key for key in before if key not in after],
    ]

def _replay_final(names):
    return {{name: _replay_copy.deepcopy(getattr(_replay_env, name)) for name in names if hasattr(_replay_env, name)}}

def _replay_check(check, arguments):
    try:
        return ["answered", "", str(bool(check(**arguments)))]
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:{LONGEST_ERROR}]]
"""
