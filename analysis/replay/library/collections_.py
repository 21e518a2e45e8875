"""`collections`, what the sandbox lacks of it: an ordered dict is a dict, which has kept its order since 3.7."""

OrderedDict = dict
