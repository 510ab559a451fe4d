"""What `benchmarks.ops` measures: a call a line, in the words of a program, and the tensors that the calls are of.

The same lines run on Ebbflow and on TensorFlow. A name stands for a tensor of about as many elements as are asked for:

    x y u        numbers between 0 and 1, between -1 and 1, above 1      i j k   whole numbers; k counts from 0 up
    b p          truths (p of as many as x has rows)                     z w     complex numbers
    t e          text; text that reads as numbers                        h       numbers of 16 bits
    m m2 lower   square matrices, well conditioned; a lower triangle     batch   matrices of 4 x 4
    rows ids     a matrix with rows of 10, and the rows' sorted numbers  labels  a class for each row
    image boxes  pictures with three channels; boxes in them             volume  a picture with a depth
    sparse       a sparse matrix, a tenth of it filled                   ragged  rows of several lengths
    signal       one long signal                                         var     a variable of x's form
"""

from __future__ import annotations

from typing import Any

import numpy as np

ELEMENT_WISE = """
tf.abs(y) tf.acos(y) tf.acosh(u) tf.asin(y) tf.asinh(y) tf.atan(y) tf.atanh(y) tf.math.ceil(y) tf.cos(y) tf.cosh(y)
tf.math.digamma(x) tf.math.erf(y) tf.math.erfc(y) tf.math.erfinv(y) tf.exp(y) tf.math.expm1(y) tf.floor(y)
tf.math.lgamma(u) tf.math.log(x) tf.math.log1p(x) tf.math.log_sigmoid(y) tf.math.ndtri(x) tf.negative(y)
tf.math.reciprocal(u) tf.math.rint(y) tf.round(y) tf.math.rsqrt(x) tf.sigmoid(y) tf.sign(y) tf.sin(y) tf.sinh(y)
tf.sqrt(x) tf.square(y) tf.tan(y) tf.tanh(y) tf.math.is_finite(y) tf.math.is_inf(y) tf.math.is_nan(y)
tf.math.bessel_i0(x) tf.math.bessel_i0e(x) tf.math.bessel_i1(x) tf.math.bessel_i1e(x) tf.math.special.bessel_j0(x)
tf.math.special.bessel_j1(x) tf.math.special.bessel_k0(x) tf.math.special.bessel_k1(x) tf.math.special.bessel_y0(x)
tf.math.special.bessel_y1(x) tf.math.special.dawsn(x) tf.math.special.expint(x) tf.math.special.fresnel_cos(x)
tf.math.special.fresnel_sin(x) tf.math.special.spence(x) tf.nn.elu(y) tf.nn.gelu(y) tf.nn.leaky_relu(y) tf.nn.relu(y)
tf.nn.relu6(y) tf.nn.selu(y) tf.nn.silu(y) tf.nn.softplus(y) tf.nn.softsign(y) tf.identity(x) tf.stop_gradient(x)
tf.zeros_like(x) tf.ones_like(x) tf.cast(x,tf.int32) tf.cast(i,tf.float32) tf.cast(x,tf.float64) tf.cast(x,tf.float16)
tf.cast(h,tf.float32) tf.bitcast(x,tf.int32) tf.saturate_cast(x,tf.uint8) tf.add(x,y) tf.subtract(x,y)
tf.multiply(x,y) tf.divide(x,u) tf.math.floordiv(x,u) tf.math.floormod(x,u) tf.truncatemod(x,u)
tf.math.divide_no_nan(x,u) tf.math.multiply_no_nan(x,u) tf.pow(x,y) tf.maximum(x,y) tf.minimum(x,y) tf.atan2(x,y)
tf.math.squared_difference(x,y) tf.math.xlogy(x,u) tf.math.xlog1py(x,u) tf.math.xdivy(x,u) tf.math.nextafter(x,y)
tf.math.igamma(u,x) tf.math.igammac(u,x) tf.math.zeta(u+1,x) tf.math.polygamma(tf.floor(u),x) tf.math.betainc(u,u,x)
tf.add_n([x,y,u]) tf.equal(x,y) tf.not_equal(x,y) tf.less(x,y) tf.less_equal(x,y) tf.greater(x,y)
tf.greater_equal(x,y) tf.add(i,j) tf.multiply(i,j) tf.math.floordiv(i,j) tf.math.floormod(i,j) tf.abs(i)
tf.maximum(i,j) tf.equal(i,j) tf.less(i,j) tf.bitwise.bitwise_and(i,j) tf.bitwise.bitwise_or(i,j)
tf.bitwise.bitwise_xor(i,j) tf.bitwise.invert(i) tf.bitwise.left_shift(i,k%8) tf.bitwise.right_shift(i,k%8)
tf.logical_and(b,b) tf.logical_or(b,b) tf.logical_not(b) tf.math.logical_xor(b,b) tf.where(b,x,y) tf.where(b)
tf.clip_by_value(y,-0.5,0.5) tf.math.accumulate_n([x,y]) tf.complex(x,y) tf.math.real(z) tf.math.imag(z)
tf.math.conj(z) tf.math.angle(z) tf.abs(z) tf.multiply(z,w) tf.exp(z) tf.add(h,h) tf.multiply(h,h) tf.tanh(h) x+1.0
x*y 2.0*x x/u x-y -x x**2 x>y i//3 i%3 tf.add(rows,rows[0]) tf.add(rows,rows[:,:1])
"""

SUMS_AND_ORDER = """
tf.reduce_sum(x) tf.reduce_mean(x) tf.reduce_max(x) tf.reduce_min(x) tf.reduce_prod(u) tf.reduce_any(b)
tf.reduce_all(b) tf.reduce_logsumexp(x) tf.math.reduce_std(x) tf.math.reduce_variance(x)
tf.math.reduce_euclidean_norm(x) tf.norm(x) tf.reduce_sum(rows,0) tf.reduce_sum(rows,1) tf.reduce_mean(rows,1)
tf.reduce_max(rows,0) tf.reduce_max(rows,1) tf.reduce_sum(i) tf.reduce_prod(rows,1) tf.reduce_logsumexp(rows,1)
tf.reduce_any(rows>0.5,1) tf.cumsum(x) tf.math.cumprod(u) tf.cumsum(rows,1) tf.math.cumulative_logsumexp(x)
tf.argmax(x) tf.argmin(x) tf.argmax(rows,1) tf.argmax(rows,0) tf.sort(x) tf.argsort(x) tf.math.top_k(x,5)
tf.math.top_k(rows,3) tf.math.in_top_k(labels,rows,3) tf.nn.l2_loss(x) tf.math.count_nonzero(i)
tf.math.bincount(k%100) tf.histogram_fixed_width(x,[0.0,1.0]) tf.unique(k%100) tf.unique_with_counts(k%100)
tf.math.segment_sum(rows,ids) tf.math.segment_mean(rows,ids) tf.math.segment_max(rows,ids)
tf.math.segment_min(rows,ids) tf.math.segment_prod(rows,ids) tf.math.unsorted_segment_sum(x,k%100,100)
tf.math.unsorted_segment_max(x,k%100,100) tf.math.unsorted_segment_mean(x,k%100,100)
tf.math.unsorted_segment_sum(rows,ids,20) tf.searchsorted(edges,x)
tf.raw_ops.Bucketize(input=x,boundaries=[0.2,0.5,0.7]) tf.raw_ops.NthElement(input=x,n=3)
tf.math.confusion_matrix(k%10,k%10) tf.linalg.norm(rows,axis=1) tf.math.l2_normalize(rows,1) tf.clip_by_norm(x,1.0)
tf.linalg.global_norm([x,y])
"""

ARRANGEMENT = """
tf.reshape(x,[-1]) tf.transpose(rows) tf.transpose(image,[0,3,1,2]) tf.expand_dims(x,0) tf.squeeze(x[None])
tf.concat([x,y],0) tf.concat([rows,rows],1) tf.stack([x,y]) tf.stack([x,y],1) tf.unstack(rows,axis=1)
tf.split(rows,2,1) tf.split(rows,[3,7],1) tf.tile(x,[2]) tf.repeat(x,2) tf.pad(x,[[1,1]])
tf.pad(rows,[[1,1],[1,1]],"REFLECT") tf.pad(rows,[[1,1],[1,1]],"SYMMETRIC") tf.reverse(x,[0]) tf.roll(x,3,0)
tf.gather(x,k) tf.gather(rows,ids) tf.gather(rows,[1,2],axis=1) tf.gather_nd(x,k[:,None])
tf.gather(rows,labels[:,None],batch_dims=1) tf.boolean_mask(x,b) tf.slice(x,[1],[5]) x[1:] x[::2] x[::-1] rows[:,2:5]
rows[0] rows[...,tf.newaxis] tf.strided_slice(x,[1],[9]) tf.fill([n],1.0) tf.zeros([n]) tf.ones([n]) tf.range(n)
tf.linspace(0.0,1.0,n) tf.one_hot(k%10,10) tf.shape(x) tf.size(x) tf.rank(x) tf.broadcast_to(rows[0],rows.shape)
tf.meshgrid(x[:10],y[:10]) tf.scatter_nd(k[:,None],x,[n]) tf.tensor_scatter_nd_update(x,k[:,None],y)
tf.tensor_scatter_nd_add(x,k[:,None],y) tf.tensor_scatter_nd_max(x,k[:,None],y) tf.dynamic_partition(x,k%2,2)
tf.dynamic_stitch([k],[x]) tf.sequence_mask(k[:10],10) tf.reverse_sequence(rows,labels,1)
tf.nn.space_to_depth(image,2) tf.nn.depth_to_space(tf.tile(image[:,:,:,:1],[1,1,1,4]),2)
tf.space_to_batch(image,[2,2],[[0,0],[0,0]]) tf.linalg.diag(x[:10]) tf.linalg.diag_part(m) tf.linalg.set_diag(m,m[0])
tf.linalg.band_part(m,1,1) tf.eye(side) tf.linalg.trace(m) tf.convert_to_tensor(array) tf.constant(array)
tf.math.invert_permutation(k) tf.raw_ops.DeepCopy(x=x) tf.ensure_shape(x,[None]) tf.unravel_index(k,[n,1])
tf.raw_ops.ListDiff(x=k,y=k) tf.image.extract_patches(image,[1,3,3,1],[1,2,2,1],[1,1,1,1],"SAME")
tf.quantization.fake_quant_with_min_max_args(x) tf.quantization.fake_quant_with_min_max_vars(x,0.0,1.0)
tf.quantization.quantize_and_dequantize_v2(x,0.0,1.0) tf.quantization.quantize(x,0.0,1.0,tf.quint8)
tf.identity_n([x,y]) tf.raw_ops.Where(condition=b) tf.nest.flatten([x,[y]])
"""

NETS = """
tf.nn.softmax(rows) tf.nn.log_softmax(rows) tf.nn.bias_add(rows,rows[0]) tf.nn.dropout(x,0.5)
tf.nn.softmax_cross_entropy_with_logits(rows,rows) tf.nn.sparse_softmax_cross_entropy_with_logits(labels,rows)
tf.nn.sigmoid_cross_entropy_with_logits(x,y) tf.nn.weighted_cross_entropy_with_logits(x,y,2.0)
tf.nn.log_poisson_loss(x,y) tf.nn.moments(rows,[0])
tf.nn.batch_normalization(rows,rows[0],rows[1],rows[2],rows[3],0.01) tf.nn.lrn(image)
tf.nn.conv2d(image,kernel,1,"SAME") tf.nn.depthwise_conv2d(image,deep,[1,1,1,1],"SAME")
tf.nn.conv2d_transpose(image,kernel,[*image.shape[:3],3],1) tf.nn.conv1d(signal[None,:,None],line,1,"SAME")
tf.nn.conv3d(volume,cube,[1,1,1,1,1],"SAME") tf.nn.max_pool2d(image,2,2,"SAME") tf.nn.avg_pool2d(image,2,2,"SAME")
tf.nn.max_pool3d(volume,2,2,"SAME") tf.nn.avg_pool3d(volume,2,2,"SAME") tf.nn.max_pool_with_argmax(image,2,2,"SAME")
tf.nn.dilation2d(image,flat,[1,1,1,1],"SAME","NHWC",[1,1,1,1])
tf.nn.erosion2d(image,flat,[1,1,1,1],"SAME","NHWC",[1,1,1,1])
tf.nn.fractional_max_pool(image,[1.0,1.4,1.4,1.0],seed=1) tf.nn.embedding_lookup(rows,ids) tf.nn.zero_fraction(x)
tf.nn.relu(rows) tf.nn.crelu(rows) tf.nn.l2_normalize(rows,1) tf.nn.with_space_to_batch(image,[1,1],"SAME",keep)
tf.nn.ctc_loss(steps_labels,steps,steps_label_lengths,steps_lengths,blank_index=0)
tf.nn.ctc_greedy_decoder(steps,steps_lengths) tf.nn.ctc_beam_search_decoder(steps,steps_lengths,beam_width=8)
"""

RANDOM = """
tf.random.normal([n]) tf.random.uniform([n]) tf.random.uniform([n],maxval=10,dtype=tf.int32)
tf.random.truncated_normal([n]) tf.random.shuffle(x) tf.random.categorical(rows,1) tf.random.gamma([n],2.0)
tf.random.poisson([n],3.0) tf.random.normal([n],seed=1) tf.random.stateless_normal([n],[1,2])
tf.random.stateless_uniform([n],[1,2]) tf.random.stateless_gamma([n],[1,2],2.0)
tf.random.stateless_poisson([n],[1,2],3.0,tf.float32) tf.random.stateless_binomial([n],[1,2],10.0,0.5)
tf.random.stateless_truncated_normal([n],[1,2]) tf.random.stateless_categorical(rows,1,[1,2]) generator.normal([n])
generator.uniform([n])
"""

MATRICES = """
tf.matmul(m,m2) tf.matmul(m,m2,transpose_b=True) tf.linalg.matvec(m,m[0]) tf.matmul(batch,batch) tf.tensordot(m,m2,1)
tf.einsum("ij,jk->ik",m,m2) tf.einsum("bij,bjk->bik",batch,batch) tf.linalg.cholesky(spd) tf.linalg.inv(m)
tf.linalg.det(m) tf.linalg.slogdet(m) tf.linalg.solve(m,m2) tf.linalg.triangular_solve(lower,m2) tf.linalg.qr(m)
tf.linalg.svd(m) tf.linalg.eigh(spd) tf.linalg.lu(m) tf.linalg.expm(m) tf.linalg.lstsq(m,m2) tf.linalg.inv(batch)
tf.linalg.det(batch) tf.linalg.cholesky(batch_spd) tf.linalg.solve(batch,batch) tf.linalg.logdet(spd)
tf.linalg.cross(three,three) tf.linalg.matrix_transpose(m) tf.linalg.adjoint(m)
tf.linalg.tridiagonal_solve(threes,threes[1]) tf.linalg.eig(m) tf.linalg.sqrtm(spd) tf.linalg.tensor_diag_part(m)
tf.linalg.cholesky_solve(lower,m2) tf.linalg.pinv(m) tf.linalg.banded_triangular_solve(threes[:2],threes[1][:,None])
"""
"""At a million elements these are minutes of one library's work, the same for both; so they are asked up to 10,000."""

IMAGES = """
tf.image.resize(image,[size,size]) tf.image.resize(image,[size,size],"nearest")
tf.image.resize(image,[size,size],"bicubic") tf.image.resize(image,[size,size],"area")
tf.image.resize(image,[size,size],"lanczos3",antialias=True) tf.image.resize(image,[size,size],antialias=True)
tf.compat.v1.image.resize_bilinear(image,[size,size]) tf.image.crop_and_resize(image,boxes,boxes_of,[7,7])
tf.image.crop_and_resize(image,boxes,boxes_of,[7,7],"nearest") tf.image.non_max_suppression(boxes,scores,20)
tf.image.non_max_suppression_with_scores(boxes,scores,20,soft_nms_sigma=0.5)
tf.image.non_max_suppression_padded(boxes,scores,20)
tf.image.combined_non_max_suppression(boxes[None,:,None],scores[None,:,None],9,9) tf.image.flip_left_right(image)
tf.image.flip_up_down(image) tf.image.rot90(image) tf.image.transpose(image) tf.image.adjust_brightness(image,0.1)
tf.image.adjust_contrast(image,1.5) tf.image.adjust_hue(image,0.1) tf.image.adjust_saturation(image,1.5)
tf.image.adjust_gamma(image,1.5) tf.image.rgb_to_grayscale(image) tf.image.grayscale_to_rgb(image[...,:1])
tf.image.rgb_to_hsv(image) tf.image.hsv_to_rgb(image) tf.image.rgb_to_yuv(image) tf.image.rgb_to_yiq(image)
tf.image.per_image_standardization(image) tf.image.central_crop(image,0.5) tf.image.sobel_edges(image)
tf.image.total_variation(image) tf.image.psnr(image,image,1.0)
tf.image.draw_bounding_boxes(image,boxes[None],[[1.0,0.0,0.0]]) tf.image.resize_with_pad(image,size,size)
tf.image.resize_with_crop_or_pad(image,size,size) tf.image.random_flip_left_right(image)
tf.image.convert_image_dtype(image,tf.uint8) tf.image.extract_glimpse(image,[4,4],[[0.0,0.0]])
tf.io.encode_png(bytes_image) tf.io.decode_png(png) tf.io.encode_jpeg(bytes_image) tf.io.decode_jpeg(jpeg)
tf.io.decode_raw(raw,tf.float32)
"""

TEXT = """
tf.strings.length(t) tf.strings.join([t,t]) tf.strings.lower(t) tf.strings.upper(t) tf.strings.strip(t)
tf.strings.substr(t,1,2) tf.strings.split(t,"_") tf.strings.regex_replace(t,"o","0")
tf.strings.regex_full_match(t,"w.*") tf.strings.to_number(e) tf.strings.as_string(k) tf.strings.as_string(x)
tf.strings.to_hash_bucket_fast(t,100) tf.strings.to_hash_bucket_strong(t,100,[1,2]) tf.strings.reduce_join(t)
tf.strings.bytes_split(t) tf.strings.unicode_decode(t,"UTF-8") tf.strings.unicode_script(k) tf.strings.ngrams(t,2)
tf.io.encode_base64(t) tf.strings.format("{}",k[:3]) tf.equal(t,t) tf.strings.unicode_transcode(t,"UTF-8","UTF-16-BE")
table.lookup(t) tf.gather(t,k) tf.concat([t,t],0) tf.edit_distance(words,words)
"""

SPARSE = """
tf.sparse.to_dense(sparse) tf.sparse.sparse_dense_matmul(sparse,wide) tf.sparse.reduce_sum(sparse,1)
tf.sparse.transpose(sparse) tf.sparse.reorder(sparse) tf.sparse.reshape(sparse,[-1])
tf.sparse.concat(0,[sparse,sparse]) tf.sparse.add(sparse,sparse) tf.sparse.slice(sparse,[0,0],[5,5])
tf.sparse.fill_empty_rows(sparse,0.0) tf.sparse.from_dense(rows) tf.sparse.softmax(sparse)
tf.sparse.maximum(sparse,sparse) tf.sparse.retain(sparse,sparse.values>0.5)
tf.nn.embedding_lookup_sparse(rows,hashed,None,combiner="sum") ragged+1.0 tf.reduce_sum(ragged,1) ragged.to_tensor()
tf.concat([ragged,ragged],0) tf.gather(ragged,ids) ragged[1:] tf.RaggedTensor.from_tensor(rows) ragged.row_lengths()
tf.ragged.range(labels) tf.sets.intersection(k[None],k[None])
"""

SIGNALS = """
tf.signal.fft(z) tf.signal.ifft(z) tf.signal.rfft(signal) tf.signal.irfft(z) tf.signal.fft2d(zm)
tf.signal.stft(signal,8,4) tf.signal.frame(signal,8,4) tf.signal.overlap_and_add(rows,5) tf.signal.dct(rows)
tf.signal.mdct(signal[:n//8*8],4,pad_end=True) tf.signal.hann_window(n)
tf.signal.linear_to_mel_weight_matrix(8,5,8000.0) tf.audio.encode_wav(signal[:,None],8000)
"""

STATE = """
var.read_value() var.assign(x) var.assign_add(y) var.assign_sub(y) var+1.0 tf.compat.v1.scatter_update(var,k,x)
var.scatter_nd_add(k[:,None],y) tf.raw_ops.ResourceGather(resource=var.handle,indices=k,dtype=tf.float32) slope(x)
tf.raw_ops.ResourceApplyGradientDescent(var=var.handle,alpha=0.01,delta=y)
tf.raw_ops.ResourceApplyMomentum(var=var.handle,accum=var2.handle,lr=0.01,grad=y,momentum=0.9)
tf.raw_ops.ResourceApplyAdam(var=var.handle,m=var2.handle,v=var3.handle,beta1_power=0.9,beta2_power=0.9,lr=0.01,beta1=0.9,beta2=0.99,epsilon=1e-7,grad=y)
tf.map_fn(keep,x[:10]) tf.cond(yes,one,two) tf.while_loop(below,up,[zero]) tf.foldl(plus,x[:10]) tf.scan(plus,x[:10])
tf.vectorized_map(keep,rows) tf.io.serialize_tensor(x) tf.io.parse_tensor(tf.io.serialize_tensor(x),tf.float32)
x.numpy() float(x[0])
"""

GROUPS = {
    "element-wise": ELEMENT_WISE,
    "sums and order": SUMS_AND_ORDER,
    "arrangement": ARRANGEMENT,
    "nets": NETS,
    "random": RANDOM,
    "matrices": MATRICES,
    "images": IMAGES,
    "text": TEXT,
    "sparse and ragged": SPARSE,
    "signals": SIGNALS,
    "state and control": STATE,
}
SIZES = (10, 10_000, 1_000_000)


def calls() -> dict[str, str]:
    """Return every call with its group, in the order above."""
    return {call: group for group, text in GROUPS.items() for call in text.split()}


def sizes_of(group: str) -> tuple[int, ...]:
    """Return how many elements a group's calls are asked for."""
    return SIZES[:2] if group == "matrices" else SIZES


class Tensors(dict[str, Any]):
    """The names a call may use, each made when a call first asks for it."""

    def __init__(self, tf: Any, n: int):
        super().__init__(tf=tf, n=n, side=max(2, int(n**0.5)), size=max(3, int((n / 3) ** 0.5) * 3 // 2))
        self.random = np.random.RandomState(7)

    def __missing__(self, name: str) -> Any:
        for makers in (NUMBERS, SHAPED, OTHERS):
            if name in makers:
                self[name] = makers[name](self)
                return self[name]
        raise KeyError(name)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Any:
        return self["tf"].constant(self.random.uniform(low, high, shape).astype(np.float32))

    def whole(self, *shape: int, high: int = 1000) -> Any:
        return self["tf"].constant(self.random.randint(1, high, shape).astype(np.int32))

    @property
    def count(self) -> int:
        """How many rows of ten there are."""
        return max(4, self["n"] // 10)

    @property
    def picture(self) -> tuple[int, int, int, int]:
        side = max(4, int((self["n"] / 3) ** 0.5) // 2 * 2)
        return (1, side, side, 3)


NUMBERS = {
    "x": lambda s: s.uniform(s["n"], low=0.01, high=0.99),
    "y": lambda s: s.uniform(s["n"], low=-0.99, high=0.99),
    "u": lambda s: s.uniform(s["n"], low=1.01, high=1.99),
    "i": lambda s: s.whole(s["n"]),
    "j": lambda s: s.whole(s["n"], high=50),
    "k": lambda s: s["tf"].range(s["n"]),
    "b": lambda s: s["x"] > 0.5,
    "h": lambda s: s["tf"].cast(s["x"], s["tf"].float16),
    "z": lambda s: s["tf"].complex(s["x"], s["y"]),
    "w": lambda s: s["tf"].complex(s["y"], s["u"]),
    "t": lambda s: s["tf"].constant([f"word_{n}" for n in range(s["n"])]),
    "e": lambda s: s["tf"].constant([f"{n}.5" for n in range(s["n"])]),
    "array": lambda s: s["x"].numpy(),
    "signal": lambda s: s.uniform(max(16, s["n"]), low=-1.0),
    "edges": lambda s: s["tf"].linspace(0.0, 1.0, 50),
}
SHAPED = {
    "m": lambda s: s.uniform(s["side"], s["side"]) + s["tf"].eye(s["side"]) * float(s["side"]),
    "m2": lambda s: s.uniform(s["side"], s["side"]),
    "zm": lambda s: s["tf"].complex(s["m"], s["m2"]),
    "spd": lambda s: s["tf"].matmul(s["m"], s["m"], transpose_b=True),
    "lower": lambda s: s["tf"].linalg.band_part(s["m"], -1, 0),
    "batch": lambda s: s.uniform(max(1, s["n"] // 16), 4, 4) + s["tf"].eye(4) * 4.0,
    "batch_spd": lambda s: s["tf"].matmul(s["batch"], s["batch"], transpose_b=True),
    "three": lambda s: s.uniform(max(1, s["n"] // 3), 3),
    "threes": lambda s: s.uniform(3, max(3, s["n"] // 3), low=1.0, high=2.0),
    "rows": lambda s: s.uniform(s.count, 10, low=0.01),
    "ids": lambda s: s["tf"].sort(s.whole(s.count, high=min(20, s.count) or 2) - 1),
    "labels": lambda s: s.whole(s.count, high=10),
    "image": lambda s: s.uniform(*s.picture),
    "bytes_image": lambda s: s["tf"].cast(s["image"][0] * 255.0, s["tf"].uint8),
    "volume": lambda s: s.uniform(1, *(max(4, round((s["n"] / 2) ** (1 / 3))),) * 3, 2),
    "kernel": lambda s: s.uniform(3, 3, 3, 3),
    "deep": lambda s: s.uniform(3, 3, 3, 1),
    "flat": lambda s: s.uniform(3, 3, 3),
    "line": lambda s: s.uniform(3, 1, 4),
    "cube": lambda s: s.uniform(2, 2, 2, 2, 2),
    "wide": lambda s: s.uniform(10, 10),
    "scores": lambda s: s.uniform(s["boxes"].shape[0]),
    "boxes_of": lambda s: s["tf"].zeros([s["boxes"].shape[0]], s["tf"].int32),
    "steps": lambda s: s.uniform(max(4, min(200, s["n"] // 100)), max(2, s["n"] // 4000), 20),
    "steps_lengths": lambda s: s["tf"].fill([s["steps"].shape[1]], s["steps"].shape[0]),
    "steps_labels": lambda s: s.whole(s["steps"].shape[1], min(20, s["steps"].shape[0] // 2), high=20),
    "steps_label_lengths": lambda s: s["tf"].fill([s["steps"].shape[1]], s["steps_labels"].shape[1]),
}


def _boxes(s: Tensors) -> Any:
    corners = s.random.uniform(0.0, 0.5, (min(2000, max(4, s["n"] // 100)), 2))
    return s["tf"].constant(
        np.concatenate([corners, corners + s.random.uniform(0.1, 0.5, corners.shape)], 1), "float32"
    )


def _sparse(s: Tensors) -> Any:
    dense = s["rows"].numpy() * (s.random.uniform(size=s["rows"].shape) < 0.1)
    dense[0, 0] = 0.5
    return s["tf"].sparse.from_dense(dense.astype(np.float32))


def _ragged(s: Tensors) -> Any:
    lengths = s.random.randint(0, 20, s.count)
    values = s.uniform(int(lengths.sum()))
    return s["tf"].RaggedTensor.from_row_lengths(values, lengths)


def _table(s: Tensors) -> Any:
    lookup = s["tf"].lookup
    numbers = s["tf"].range(s["n"], dtype=s["tf"].int64)
    return lookup.StaticHashTable(lookup.KeyValueTensorInitializer(s["t"], numbers), -1)


def _hashed(s: Tensors) -> Any:
    found = s["sparse"]
    values = s["tf"].constant(s.random.randint(0, s.count, found.values.shape[0]), "int64")
    return s["tf"].SparseTensor(found.indices, values, found.dense_shape)


def _words(s: Tensors) -> Any:
    letters = s["tf"].strings.bytes_split(s["t"][: min(s["n"], 10_000)])
    return letters.to_sparse()


def _slope(s: Tensors) -> Any:
    tf = s["tf"]

    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.tanh(x) * x)
        return tape.gradient(y, x)

    return slope


OTHERS = {
    "boxes": _boxes,
    "sparse": _sparse,
    "ragged": _ragged,
    "table": _table,
    "hashed": _hashed,
    "words": _words,
    "slope": _slope,
    "var": lambda s: s["tf"].Variable(s["x"]),
    "var2": lambda s: s["tf"].Variable(s["x"]),
    "var3": lambda s: s["tf"].Variable(s["x"]),
    "generator": lambda s: s["tf"].random.Generator.from_seed(3),
    "png": lambda s: s["tf"].io.encode_png(s["bytes_image"]),
    "jpeg": lambda s: s["tf"].io.encode_jpeg(s["bytes_image"]),
    "raw": lambda s: s["tf"].constant(s["array"].tobytes()),
    "keep": lambda s: lambda x, *rest, **options: x * 2.0,
    "plus": lambda s: lambda a, x: a + x,
    "yes": lambda s: s["tf"].constant(True),
    "zero": lambda s: s["tf"].constant(0),
    "one": lambda s: lambda: s["x"],
    "two": lambda s: lambda: s["y"],
    "below": lambda s: lambda i: i < 10,
    "up": lambda s: lambda i: (i + 1,),
}


def ready(tf: Any, call: str, n: int) -> Any:
    """Return a call on tensors of about `n` elements, which are there already, as a function without arguments."""
    code = compile(call, "a benchmark", "eval")
    known = Tensors(tf, n)
    names = {name: known[name] for name in code.co_names if name in known or _is_made(name)}
    return eval(f"lambda: {call}", names)


def _is_made(name: str) -> bool:
    return any(name in makers for makers in (NUMBERS, SHAPED, OTHERS))
