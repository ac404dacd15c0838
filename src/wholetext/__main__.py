"""`python -m wholetext` is the same as `wholetext`."""

from wholetext.cli.main import main

if __name__ == "__main__":
    main()
