"""Cases of `tf.signal`: values, and gradients where TensorFlow has them."""

import numpy as np

from tests.ops.calls import gradients

RNG = np.random.RandomState(0)
X = RNG.randn(2, 16).astype(np.float32)
Z = (RNG.randn(2, 3, 4) + 1j * RNG.randn(2, 3, 4)).astype(np.complex64)
FRAMES = RNG.rand(2, 3, 7).astype(np.float32)


def cases(tf):
    s = tf.signal
    for name in "fft ifft fft2d ifft2d fft3d ifft3d irfft irfft2d".split():
        yield name, lambda name=name: gradients(tf, getattr(s, name), Z)
        yield f"{name}/double", lambda name=name: getattr(s, name)(tf.constant(Z.astype(np.complex128)))
    yield "irfft3d", lambda: s.irfft3d(Z)
    yield "rfft3d", lambda: s.rfft3d(Z.real)
    yield "rfft2d", lambda: gradients(tf, s.rfft2d, Z.real)
    yield "rfft2d/lengths", lambda: gradients(tf, lambda x: s.rfft2d(x, [3, 7]), Z.real)
    for length in (7, 15):
        yield f"rfft/{length}", lambda n=length: s.rfft(X, [n])
    for length in (16, 17, 32):
        yield f"rfft/{length}", lambda n=length: gradients(tf, lambda x: s.rfft(x, [n]), X)
    for length in (6, 7, 9):
        yield f"irfft/{length}", lambda n=length: gradients(tf, lambda x: s.irfft(x, [n]), Z)
    yield "irfft/cut", lambda: s.irfft(Z, [3])
    yield "rfft2d/vector", lambda: s.rfft2d(X[0])
    yield "irfft2d/vector", lambda: s.irfft2d(Z[0, 0], [2, 2])
    yield "rfft2d/negative", lambda: s.rfft2d(X, [2, -1])
    of_any_rank = [tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)]
    for name, length in (("rfft", [20]), ("rfft2d", [3, 17]), ("rfft3d", [3, 5, 6])):
        spread = tf.function(getattr(s, name), input_signature=of_any_rank)
        yield f"{name}/any rank", lambda f=spread, n=length: f(Z.real, n)
    slope = tf.function(lambda x: tf.gradients(tf.math.real(s.rfft(x, [20])), x)[0], input_signature=of_any_rank[:1])
    yield "rfft/any rank/gradient", lambda: slope(X)
    shorter = tf.function(lambda x: s.irfft2d(x, [5, 9]), input_signature=[tf.TensorSpec(None, tf.complex64)])
    yield "irfft2d/any rank", lambda: shorter(Z)
    yield "rfft/empty", lambda: s.rfft(np.zeros((0, 4), np.float32))
    yield "rfft/int", lambda: s.rfft([1, 2])
    yield "irfft/real", lambda: s.irfft(X)
    yield "fft/scalar", lambda: s.fft(np.complex64(1))
    yield "fft2d/vector", lambda: s.fft2d(Z[0, 0])
    yield "fft/real", lambda: s.fft(tf.constant(X))
    yield "rfft/negative", lambda: s.rfft(X, [-1])
    yield "rfft/two", lambda: s.rfft(X, [2, 2])
    yield "stft", lambda: gradients(tf, lambda x: s.stft(x, 6, 3), X)
    yield "stft/padded", lambda: gradients(tf, lambda x: s.stft(x, 6, 3, fft_length=9, pad_end=True, window_fn=None), X)
    yield (
        "inverse_stft",
        lambda: gradients(
            tf, lambda z: s.inverse_stft(z, 4, 2, fft_length=6, window_fn=s.inverse_stft_window_fn(2)), Z
        ),
    )
    yield "inverse_stft/there and back", lambda: s.inverse_stft(s.stft(X, 6, 3, fft_length=4), 6, 3, fft_length=4)
    yield "frame", lambda: gradients(tf, lambda x: s.frame(x, 7, 3), X)
    yield "frame/padded", lambda: s.frame(X, 7, 3, pad_end=True, pad_value=2.0)
    yield "frame/axis", lambda: s.frame(X, 2, 1, pad_end=True, axis=0)
    yield "frame/too long", lambda: s.frame(X, 50, 3)
    yield "frame/ints", lambda: s.frame([[1, 2, 3, 4, 5]], 2, 2, True)
    yield "frame/scalar", lambda: s.frame(1.0, 2, 2)
    yield "overlap_and_add", lambda: gradients(tf, lambda x: s.overlap_and_add(x, 3), FRAMES)
    yield "overlap_and_add/gaps", lambda: s.overlap_and_add(FRAMES, 9)
    yield "overlap_and_add/float step", lambda: s.overlap_and_add(FRAMES, 2.0)
    yield "overlap_and_add/vector", lambda: s.overlap_and_add([1.0, 2.0], 1)
    for kind in (1, 2, 3, 4):
        for norm in (None, "ortho"):
            rules = {"type": kind, "norm": norm}
            yield f"dct/{kind}/{norm}", lambda r=rules: gradients(tf, lambda x: s.dct(x, **r), X)
            yield f"idct/{kind}/{norm}", lambda r=rules: s.idct(X, **r)
            for n in (9, 20):
                yield f"dct/{kind}/{norm}/{n}", lambda r=rules, n=n: s.dct(X, n=n, **r)
    yield "dct/axis", lambda: s.dct(X, axis=0)
    yield "dct/five", lambda: s.dct(X, type=5)
    yield "dct/norm", lambda: s.dct(X, norm="other")
    for norm in (None, "ortho"):
        for name in ("vorbis_window", "kaiser_bessel_derived_window", None):
            window = name and getattr(s, name)
            yield f"mdct/{norm}/{name}", lambda w=window, n=norm: s.mdct(X, 8, w, norm=n, pad_end=True)
            yield f"inverse_mdct/{norm}/{name}", lambda w=window, n=norm: s.inverse_mdct(FRAMES[..., :6], w, norm=n)
    yield "mdct/odd", lambda: s.mdct(X, 6)
    for n in (1, 2, 5, 8):
        for name in ("hann_window", "hamming_window"):
            for periodic in (True, False):
                yield f"{name}/{n}/{periodic}", lambda f=name, n=n, p=periodic: getattr(s, f)(n, p, tf.float64)
        for name in ("kaiser_window", "vorbis_window"):
            yield f"{name}/{n}", lambda f=name, n=n: getattr(s, f)(n)
    yield "kaiser_bessel_derived_window", lambda: s.kaiser_bessel_derived_window(8, 4.0)
    yield "hann_window/int", lambda: s.hann_window(4, dtype=tf.int32)
    yield "linear_to_mel_weight_matrix", lambda: s.linear_to_mel_weight_matrix(5, 17, 16000)
    yield "linear_to_mel_weight_matrix/edges", lambda: s.linear_to_mel_weight_matrix(lower_edge_hertz=5000.0)
    yield "linear_to_mel_weight_matrix/nyquist", lambda: s.linear_to_mel_weight_matrix(5, 17, 4000)
    yield "mfccs_from_log_mel_spectrograms", lambda: s.mfccs_from_log_mel_spectrograms(X)
    yield "fftshift", lambda: [s.fftshift(X), s.ifftshift(X, axes=1), s.fftshift(X, axes=[0, 1])]
