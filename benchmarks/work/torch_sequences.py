"""Programs whose sizes change from run to run, and sparse rows, on PyTorch: the library's LSTM over packed rows."""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F

from benchmarks.problems import (
    ADAM,
    RATE,
    reading_parameters,
    readings,
    sparse_rows,
    translation_parameters,
    translations,
)
from benchmarks.work import Work

GATES = (0, 2, 1, 3)
"""The library's gates in our numbers: ours are input, value, forget, output; its are input, forget, value, output."""


def _library_lstm(p, name):
    """Return weights for the input, for the state, and two biases; the forget gate's has 1 added."""
    w, b = p[f"{name}_w"], p[f"{name}_b"].clone()
    units = b.shape[0] // 4
    b[2 * units : 3 * units] += 1.0
    w, b = (torch.cat([torch.chunk(x, 4, dim=-1)[k] for k in GATES], -1) for x in (w, b))
    depth = w.shape[0] - units
    parts = w[:depth].t().contiguous(), w[depth:].t().contiguous(), b, torch.zeros_like(b)
    return [x.requires_grad_() for x in parts]


def _decode(p, decoder, first, lengths, steps):
    """Return the logits of all steps: each step is given the word that the one before found most likely."""
    c, h = first
    x = p["embeddings"][1].expand(len(lengths), -1)
    found = []
    for t in range(steps):
        new_h, new_c = torch.lstm_cell(x, (h, c), *decoder)
        done = (t >= lengths)[:, None]
        logits = torch.addmm(p["bias"], torch.where(done, 0.0, new_h), p["weights"])
        found.append(logits)
        h, c = torch.where(done, h, new_h), torch.where(done, c, new_c)
        x = F.embedding(torch.argmax(logits, 1), p["embeddings"])
    return torch.stack(found)


def encoder_decoder_batch():
    p = {k: torch.from_numpy(x) for k, x in translation_parameters().items()}
    encoder = [x for name in ("forwards", "backwards") for x in _library_lstm(p, name)]
    decoder = _library_lstm(p, "decoder")
    p = {k: p[k].requires_grad_() for k in ("embeddings", "weights", "bias")}
    leaves = [*encoder, *decoder, *p.values()]
    betas = ADAM["beta1"], ADAM["beta2"]
    optimizer = torch.optim.Adam(leaves, ADAM["rate"], betas, ADAM["epsilon"], fused=True)
    feeds = translations()
    batches = itertools.cycle(feeds)

    def once():
        given, lengths, wanted = (torch.from_numpy(x).long() for x in next(batches))
        optimizer.zero_grad()
        words = F.embedding(given, p["embeddings"])
        packed = torch.nn.utils.rnn.pack_padded_sequence(words, lengths, enforce_sorted=False)
        start = words.new_zeros(2, len(lengths), encoder[1].shape[1])
        sizes = packed.batch_sizes
        _, h, c = torch.lstm(packed.data, sizes, (start, start), encoder, True, 1, 0.0, True, True)
        h, c = (x.index_select(1, packed.unsorted_indices) for x in (h, c))
        first = torch.cat(tuple(c), 1), torch.cat(tuple(h), 1)
        logits = _decode(p, decoder, first, lengths + 3, len(wanted))
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        loss.backward()
        optimizer.step()
        return loss.item()

    return Work(lambda: [once() for _ in feeds], len(feeds))


def lstm_of_41_lengths():
    p = {k: torch.from_numpy(x) for k, x in reading_parameters().items()}
    reader, out = _library_lstm(p, "reader"), p["out"].requires_grad_()
    betas = ADAM["beta1"], ADAM["beta2"]
    optimizer = torch.optim.Adam([*reader, out], ADAM["rate"], betas, ADAM["epsilon"], fused=True)
    feeds = [[torch.from_numpy(x) for x in arrays] for arrays in readings()]

    def once(x, y):
        optimizer.zero_grad()
        start = x.new_zeros(1, len(x), len(out))
        _, h, _ = torch.lstm(x, (start, start), reader, True, 1, 0.0, True, False, True)
        loss = ((h[0] @ out - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return Work(lambda: [once(*arrays) for arrays in feeds], len(feeds))


def embedding_rows():
    table, ids = map(torch.from_numpy, sparse_rows())
    table, ids = table.requires_grad_(), ids.long()
    optimizer = torch.optim.SGD([table], RATE)

    def run():
        optimizer.zero_grad()
        loss = (F.embedding(ids, table, sparse=True) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Work(run, parameters=lambda: {"table": table.detach().numpy()})


WORKLOADS = {f.__name__: f for f in (encoder_decoder_batch, lstm_of_41_lengths, embedding_rows)}
