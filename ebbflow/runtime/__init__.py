"""How graphs run: sessions, the executor, fetches and feeds."""
