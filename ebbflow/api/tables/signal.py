"""The names of signals: Fourier and cosine transforms, windows, frames, mel scales."""

BOTH = """
[ops.signal.fft]
signal.: fft fft2d fft3d fftnd fftshift ifft ifft2d ifft3d ifftnd ifftshift
signal.: irfft irfft2d irfft3d irfftnd rfft rfft2d rfft3d rfftnd
[ops.signal.windows]
signal.: hamming_window hann_window kaiser_bessel_derived_window kaiser_window vorbis_window
[ops.signal.frames]
signal.: frame overlap_and_add
[ops.signal.spectra]
signal.: inverse_mdct inverse_stft inverse_stft_window_fn mdct stft
[ops.signal.cosine]
signal.: dct idct
[ops.signal.mel]
signal.: linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms
"""

V1 = """
[ops.signal.fft]
fft spectral.fft
fft2d spectral.fft2d
fft3d spectral.fft3d
ifft spectral.ifft
ifft2d spectral.ifft2d
ifft3d spectral.ifft3d
spectral.: irfft irfft2d irfft3d rfft rfft2d rfft3d
[ops.signal.cosine]
spectral.: dct idct
"""

CONTRIB = """
[ops.signal.windows]
contrib.signal.: hamming_window hann_window
[ops.signal.frames]
contrib.signal.: frame overlap_and_add
[ops.signal.spectra]
contrib.signal.: inverse_stft inverse_stft_window_fn stft
[ops.signal.mel]
contrib.signal.: linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms
"""
"""`tf.contrib.signal`, at the TF 1 door."""

INSIDE = """
[ops.signal.fft]
python.ops.signal.fft_ops.: fft fft2d fft3d fftnd fftshift ifft ifft2d ifft3d ifftnd ifftshift
python.ops.signal.fft_ops.: irfft irfft2d irfft3d irfftnd rfft rfft2d rfft3d rfftnd
python.ops.spectral_ops.: fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d
[ops.signal.windows]
python.ops.signal.window_ops.: hamming_window hann_window kaiser_bessel_derived_window kaiser_window vorbis_window
[ops.signal.frames]
python.ops.signal.shape_ops.frame
python.ops.signal.reconstruction_ops.overlap_and_add
[ops.signal.spectra]
python.ops.signal.spectral_ops.: inverse_mdct inverse_stft inverse_stft_window_fn mdct stft
[ops.signal.cosine]
python.ops.signal.dct_ops.: dct idct
python.ops.spectral_ops.: dct idct
[ops.signal.mel]
python.ops.signal.mel_ops.linear_to_mel_weight_matrix
python.ops.signal.mfcc_ops.mfccs_from_log_mel_spectrograms
"""
"""What the modules of `tensorflow.python.ops.signal` show."""
