"""Sessions that look after themselves: initialized, restored, checkpointed, hooked, recovered and ended."""
