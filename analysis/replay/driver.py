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

def _replay_parts_of(name, value):
    if isinstance(value, dict):
        return {{name + "/" + str(key): str(value[key]) for key in value}}
    if isinstance(value, (list, tuple)):
        parts, place = {{}}, 0
        for item in value:
            parts[name + "/" + _replay_key(item, place)] = str(item)
            place += 1
        return parts
    return {{name: str(value)}}

def _replay_read(names):
    return {{name: str(getattr(_replay_env, name)) for name in names if hasattr(_replay_env, name)}}

def _replay_begin(cls, config, names):
    global _replay_env, _replay_whole, _replay_parts
    _replay_env = _replay_start(cls, config)
    _replay_whole = _replay_read(names)
    _replay_parts = {{name: _replay_parts_of(name, getattr(_replay_env, name)) for name in _replay_whole}}

def _replay_changes(names):
    global _replay_whole
    whole = _replay_read(names)
    if whole == _replay_whole:
        return [[], [], []]
    made, changed, removed = [], [], []
    for name in whole:
        if whole[name] != _replay_whole.get(name):
            before = _replay_parts.get(name, {{}})
            after = _replay_parts_of(name, getattr(_replay_env, name))
            made += [key for key in after if key not in before]
            changed += [key for key in after if key in before and after[key] != before[key]]
            removed += [key for key in before if key not in after]
            _replay_parts[name] = after
    _replay_whole = whole
    return [made, changed, removed]

def _replay_made(name, arguments, names):
    answer = _replay_call(name, arguments)
    return answer + _replay_changes(names)

def _replay_all(calls, names):
    return [_replay_made(name, arguments, names) for name, arguments in calls] + [_replay_read(names)]

def _replay_final(names):
    return {{name: _replay_copy.deepcopy(getattr(_replay_env, name)) for name in names if hasattr(_replay_env, name)}}

def _replay_check(check, arguments):
    try:
        return ["answered", "", str(bool(check(**arguments)))]
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:{LONGEST_ERROR}]]
"""
