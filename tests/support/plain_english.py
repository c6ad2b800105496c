"""The rules of plain English that a program can check, and the largest share of sentences that may break each [%]."""

RULES = {
    # a clause without a noun as subject or object: "What the file lacks stands in another file"
    "begins without a noun": (r"^(What|Who|Whoever|Whatever|Where|Of)\b(?![^.]*\?$)", 0.3),
    "clause without a noun": (r"\b(what|who|whoever|whatever) (is|are|was|were|has|have|does|do|can|it|they)\b", 1.0),
    "that of, those of": (r"\b(that|those) (of|by|with|from)\b", 0.3),
    "code that tells or refuses": (r"\b(is|are|was|were|be|been) (told|said|named|refused|honoured|warned of)\b", 0.3),
    "bookish": (r"\b(shall|beside|besides|kin|but for|nought|whole of|wherever|thereof)\b", 0.1),
    "metaphor for code": (r"\b(desks?|rooms?|wings?|floors?|rungs?|twins?|rivals?)\b", 0.2),
}
