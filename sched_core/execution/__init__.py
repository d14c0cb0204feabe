"""The contract with an executor or a hardware model."""
