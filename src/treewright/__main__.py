"""``python -m treewright`` is the command ``treewright``."""

from treewright.cli.entry import main

if __name__ == "__main__":
    main()
