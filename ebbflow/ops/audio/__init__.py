"""Sound: bytes of files and samples."""
