"""The contract with a policy: what it is asked, what it may see, how its answers are checked."""
