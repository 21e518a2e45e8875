"""Small pure functions of modules that the sandbox lacks: run there only; tests hold them to the originals."""
