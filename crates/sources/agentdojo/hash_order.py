"""The order in which CPython 3.11 and later iterate a set of strings under hash seed 0, on every version and build.

AgentDojo's calendar tool returns a list made from a set. Its order follows the strings' hashes, which CPython 3.10 computes
with another function, and which a build may replace."""

_MASK = (1 << 64) - 1


def _rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(a, b, c, d):
    a = (a + b) & _MASK
    b = _rotate(b, 13) ^ a
    a = _rotate(a, 32)
    c = (c + d) & _MASK
    d = _rotate(d, 16) ^ c
    a = (a + d) & _MASK
    d = _rotate(d, 21) ^ a
    c = (c + b) & _MASK
    b = _rotate(b, 17) ^ c
    c = _rotate(c, 32)
    return a, b, c, d


def siphash13(data):
    """SipHash-1-3 with the key that hash seed 0 stands for, all zeros (Aumasson and Bernstein, 2012)."""
    state = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        a, b, c, d = state
        a, b, c, d = _round(a, b, c, d ^ word)
        state = (a ^ word, b, c, d)
    a, b, c, d = state
    state = (a, b, c ^ 0xFF, d)
    for _ in range(3):
        state = _round(*state)
    a, b, c, d = state
    return a ^ b ^ c ^ d


class _Hashed:
    __slots__ = ("hash", "text")

    def __init__(self, text):
        if not text.isascii():
            raise ValueError(f"only ASCII strings have a known hash order: {text!r}")
        self.text = text
        unsigned = siphash13(text.encode()) if text else 0
        self.hash = unsigned - (1 << 64) if unsigned >> 63 else unsigned

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        return self.text == other.text


def hash_ordered(strings):
    """The distinct strings, in the order of a set."""
    return [hashed.text for hashed in set(map(_Hashed, strings))]
