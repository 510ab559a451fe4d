"""`python -m ebbflow` is `ebbflow`."""

from ebbflow.cli import main

if __name__ == "__main__":
    main()
