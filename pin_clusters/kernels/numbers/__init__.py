"""Operations on numbers and small vectors, and access to memory."""
