"""Images: bytes of files and pixels."""
