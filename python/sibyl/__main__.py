"""`python -m sibyl` is the command `sibyl`."""

from sibyl.cli import main

if __name__ == "__main__":
    main()
