"""The names of images."""

BOTH = """
[ops.audio.audio_ops]
audio.decode_wav
[ops.image.augment]
image.: random_brightness random_contrast random_flip_left_right random_flip_up_down random_hue random_jpeg_quality
image.: random_saturation stateless_random_brightness stateless_random_contrast stateless_random_flip_left_right
image.: stateless_random_flip_up_down stateless_random_hue stateless_random_jpeg_quality stateless_random_saturation
[ops.image.boxes]
image.: combined_non_max_suppression non_max_suppression non_max_suppression_overlaps non_max_suppression_padded
image.: non_max_suppression_with_scores stateless_sample_distorted_bounding_box
[ops.image.quality]
image.: image_gradients psnr sobel_edges ssim ssim_multiscale total_variation
[ops.image.colour]
image.: adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation convert_image_dtype
image.: grayscale_to_rgb hsv_to_rgb rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb
[ops.image.encodings]
encode_png_image as image.encode_png io.encode_png
encode_wav_audio as audio.encode_wav
[ops.image.files]
image.: adjust_jpeg_quality decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp
image.: encode_jpeg extract_jpeg_shape is_jpeg
io.: decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg
io.: extract_jpeg_shape is_jpeg
[ops.image.layout]
image.: central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box rot90 transpose
resize_with_crop_or_pad as image.resize_with_crop_or_pad
"""

V1 = """
[ops.image.boxes]
draw_bounding_boxes_v1 as image.draw_bounding_boxes
sample_distorted_bounding_box_v1 as image.sample_distorted_bounding_box
[ops.image.colour]
per_image_standardization_v1 as image.per_image_standardization
[ops.image.layout]
resize_with_crop_or_pad as image.resize_image_with_crop_or_pad
transpose as image.transpose_image
[ops.image.resize]
ResizeMethodV1 as image.ResizeMethod
image.: resize_area resize_bicubic resize_bilinear resize_nearest_neighbor
resize_image_with_pad_v1 as image.resize_image_with_pad
resize_images_v1 as image.resize image.resize_images
[ops.image.glimpse]
extract_glimpse_v1 as image.extract_glimpse
[ops.image.warp]
crop_and_resize_v1 as image.crop_and_resize
"""

V2 = """
[ops.image.boxes]
image.: draw_bounding_boxes sample_distorted_bounding_box
[ops.image.colour]
image.per_image_standardization
[ops.image.glimpse]
image.extract_glimpse
[ops.image.resize]
image.: ResizeMethod resize resize_with_pad
[ops.image.warp]
image.crop_and_resize
"""

CONTRIB = """
[ops.audio.audio_ops]
contrib.framework.python.ops.audio_ops.: audio_spectrogram decode_wav mfcc
[ops.image.encodings]
encode_wav_audio as contrib.framework.python.ops.audio_ops.encode_wav
[ops.image.warp]
contrib.image.: angles_to_projective_transforms compose_transforms flat_transforms_to_matrices
contrib.image.: matrices_to_flat_transforms rotate transform translate translations_to_projective_transforms
contrib.image.python.ops.image_ops.: angles_to_projective_transforms compose_transforms rotate transform translate
image_projective_transform as contrib.image.ops.gen_image_ops.image_projective_transform
[ops.image.components]
contrib.image.connected_components
[tf1.image_warps]
contrib.image.: dense_image_warp interpolate_spline sparse_image_warp
interpolate_bilinear as contrib.image.python.ops.dense_image_warp._interpolate_bilinear
[tf1.image_distortions]
contrib.image.bipartite_match
contrib.image.python.ops.image_ops.bipartite_match
contrib.image.python.ops.distort_image_ops.: adjust_hsv_in_yiq random_hsv_in_yiq
[tf1.image_warps]
contrib.resampler.resampler
"""
"""`tf.contrib.image`, at the TF 1 door."""

INSIDE = """
[ops.image.resize]
ResizeMethodV1 as python.ops.image_ops_impl.ResizeMethodV1 python.ops.image_ops.ResizeMethodV1
ResizeMethod as python.ops.image_ops_impl.ResizeMethod python.ops.image_ops.ResizeMethod
resize as python.ops.image_ops.resize_images_v2 python.ops.image_ops_impl.resize_images_v2
resize_with_pad as python.ops.image_ops.resize_image_with_pad_v2 python.ops.image_ops_impl.resize_image_with_pad_v2
resize_image_with_pad_v1 as python.ops.image_ops.resize_image_with_pad_v1
[ops.image.warp]
crop_and_resize_v1 as python.ops.image_ops.crop_and_resize_v1 python.ops.image_ops_impl.crop_and_resize_v1
crop_and_resize as python.ops.image_ops.crop_and_resize_v2 python.ops.image_ops_impl.crop_and_resize_v2
"""
"""What the modules of images inside TensorFlow show besides their public names."""
