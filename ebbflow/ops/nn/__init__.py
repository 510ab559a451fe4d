"""What neural nets are made of: convolution, pooling, normalisation, cross entropies, embeddings, recurrent cells."""
