"""`python -m schedfw`, the command `schedfw`."""

from sched_core.cli import main

if __name__ == "__main__":
    main(prog_name="schedfw")
