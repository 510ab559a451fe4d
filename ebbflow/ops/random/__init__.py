"""Random numbers: with state, without state, from a generator; the streams and distributions behind them."""
