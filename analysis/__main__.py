"""`python -m analysis`: hands over to `analysis.cli`."""

from analysis.cli.main import console

if __name__ == "__main__":
    console()
