"""Writes the small image files that `tests/golden/calls/codecs.py` reads: tests/golden/calls/pictures/.

    python tools/record/pictures.py

Needs Pillow and NumPy. The files are made once; TensorFlow's answers to them are recorded by `calls.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

WRITES = ("calls/pictures/*",)
FOLDER = Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "calls" / "pictures"


def picture(height: int, width: int, channels: int, seed: int = 0) -> np.ndarray:
    """Return smooth pixels with some noise."""
    y, x = np.mgrid[:height, :width]
    noise = np.random.RandomState(seed).randint(0, 40, (height, width, channels))
    waves = [110 + 100 * np.sin(x / (3 + c) + c) * np.cos(y / (4 + c)) for c in range(channels)]
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    rgb, rgba, grey = picture(17, 13, 3), picture(9, 7, 4), picture(11, 8, 1)[..., 0]
    Image.fromarray(rgb).save(FOLDER / "rgb.jpg", quality=80)
    Image.fromarray(rgb).save(FOLDER / "full.jpg", quality=90, subsampling=0)
    Image.fromarray(rgb).save(FOLDER / "progressive.jpg", progressive=True)
    Image.fromarray(grey).save(FOLDER / "grey.jpg")
    Image.fromarray(255 - picture(9, 9, 4), "CMYK").save(FOLDER / "cmyk.jpg")
    Image.fromarray(rgb).save(FOLDER / "rgb.png")
    Image.fromarray(rgba).save(FOLDER / "rgba.png")
    Image.fromarray(grey).save(FOLDER / "grey.png")
    Image.fromarray(picture(6, 5, 2), "LA").save(FOLDER / "grey_alpha.png")
    Image.fromarray(grey.astype(np.uint16) * 251 + 7).save(FOLDER / "grey16.png")
    Image.fromarray(rgb).quantize(16).save(FOLDER / "palette.png")
    Image.fromarray(rgb).save(FOLDER / "rgb.bmp")
    Image.fromarray(rgba).save(FOLDER / "rgba.bmp")
    Image.fromarray(grey).save(FOLDER / "grey.bmp")
    frames = [Image.fromarray(picture(8, 9, 3, seed)).quantize(32) for seed in range(3)]
    frames[0].save(FOLDER / "moving.gif", save_all=True, append_images=frames[1:])
    frames[0].save(FOLDER / "still.gif")


if __name__ == "__main__":
    main()
