"""QR codes of short addresses, for phones on the same network: versions 1 to 5, low error correction, bytes.

Written here since it is a page of arithmetic, and a dependency would be kept up for one command (ISO/IEC 18004).
"""

from __future__ import annotations

from itertools import groupby

from verax.errors import VeraxError

Matrix = list[list[bool]]

# By version: bytes of data and of error correction, all in one block.
CAPACITY = {1: (19, 7), 2: (34, 10), 3: (55, 15), 4: (80, 20), 5: (108, 26)}
QUIET = 4  # modules of white around it
MASKS = (
    lambda row, column: (row + column) % 2 == 0,
    lambda row, _column: row % 2 == 0,
    lambda _row, column: column % 3 == 0,
    lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0,
    lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0,
)


def qr_matrix(text: str) -> Matrix:
    """The modules of the code of a text, dark ones true, without the white around them."""
    data = text.encode()
    version = next((one for one, (size, _) in CAPACITY.items() if len(data) + 2 <= size), None)
    if version is None:
        raise VeraxError(f"The address has {len(data)} bytes, too many for a small QR code; type it instead.")
    size, correction = CAPACITY[version]
    words = _data_words(data, size)
    bits = [bit for word in (*words, *_correction(words, correction)) for bit in _bits(word, 8)]
    side = 17 + 4 * version
    fixed = _fixed(side)
    drawn = [_masked(fixed, bits, mask) for mask in range(len(MASKS))]
    return min(drawn, key=_penalty)


def _data_words(data: bytes, size: int) -> list[int]:
    bits = [*_bits(0b0100, 4), *_bits(len(data), 8), *(bit for byte in data for bit in _bits(byte, 8))]
    bits += [False] * min(4, 8 * size - len(bits))
    bits += [False] * (-len(bits) % 8)
    words = [
        sum(bit << (7 - place) for place, bit in enumerate(bits[at : at + 8]))
        for at in range(0, len(bits), 8)
    ]
    return words + [(0xEC, 0x11)[place % 2] for place in range(size - len(words))]


def _bits(value: int, many: int) -> list[bool]:
    return [bool(value >> place & 1) for place in reversed(range(many))]


def _times(one: int, other: int) -> int:
    """The product in the field of 256 elements."""
    product = 0
    for place in reversed(range(8)):
        product = product << 1 ^ (product >> 7) * 0x11D
        product ^= (other >> place & 1) * one
    return product


def _correction(words: list[int], many: int) -> list[int]:
    """The Reed-Solomon words: what is left of the data, divided by the generator."""
    generator, root = [1], 1
    for _ in range(many):
        generator = [
            _times(one, root) ^ other for one, other in zip([0, *generator], [*generator, 0], strict=True)
        ]
        root = _times(root, 2)
    left = [0] * many
    for word in words:
        factor = word ^ left[0]
        left = [
            one ^ _times(coefficient, factor)
            for one, coefficient in zip([*left[1:], 0], generator[1:], strict=True)
        ]
    return left


def _fixed(side: int) -> list[list[bool | None]]:
    """The patterns that all codes of this size have; None where data go."""
    made: list[list[bool | None]] = [[None] * side for _ in range(side)]
    for place in range(side):
        made[6][place] = made[place][6] = place % 2 == 0
    for top, left in ((0, 0), (0, side - 7), (side - 7, 0)):
        for row in range(-1, 8):
            for column in range(-1, 8):
                if 0 <= top + row < side and 0 <= left + column < side:
                    ring = max(abs(row - 3), abs(column - 3))
                    made[top + row][left + column] = ring not in (2, 4)
    if side > 21:
        for row in range(-2, 3):
            for column in range(-2, 3):
                made[side - 7 + row][side - 7 + column] = max(abs(row), abs(column)) != 1
    for place in range(9):
        for row, column in ((8, place), (place, 8)):
            if made[row][column] is None:
                made[row][column] = False
    for place in range(8):
        made[8][side - 1 - place] = made[side - 1 - place][8] = False
    made[side - 8][8] = True
    return made


def _masked(fixed: list[list[bool | None]], bits: list[bool], mask: int) -> Matrix:
    side = len(fixed)
    made = [[bool(module) for module in row] for row in fixed]
    waiting = iter(bits)
    upwards = True
    for right in (*range(side - 1, 6, -2), *range(5, 0, -2)):
        for row in reversed(range(side)) if upwards else range(side):
            for column in (right, right - 1):
                if fixed[row][column] is None:
                    made[row][column] = next(waiting, False) != MASKS[mask](row, column)
        upwards = not upwards
    _write_format(made, mask)
    return made


def _write_format(made: Matrix, mask: int) -> None:
    """Which mask it has, twice, with its own error correction."""
    side = len(made)
    value = 0b01 << 3 | mask
    left = value
    for _ in range(10):
        left = left << 1 ^ (left >> 9) * 0x537
    bits = _bits((value << 10 | left) ^ 0x5412, 15)[::-1]
    for place in range(15):
        down = place if place < 6 else place + 1 if place < 8 else side - 15 + place
        across = side - 1 - place if place < 8 else 15 - place if place == 8 else 14 - place
        made[down][8] = bits[place]
        made[8][across] = bits[place]
    made[side - 8][8] = True


def _penalty(made: Matrix) -> int:
    """How hard it is to read: long runs, blocks, what looks like a corner, too much of one colour."""
    side = len(made)
    lines = [*made, *([row[place] for row in made] for place in range(side))]
    runs = sum(length - 2 for line in lines for length in _runs(line) if length >= 5)
    blocks = sum(
        made[row][column] == made[row][column + 1] == made[row + 1][column] == made[row + 1][column + 1]
        for row in range(side - 1)
        for column in range(side - 1)
    )
    corner = [True, False, True, True, True, False, True]
    alike = ([False] * 4 + corner, corner + [False] * 4)
    corners = sum(line[at : at + 11] in alike for line in lines for at in range(side - 10))
    dark = sum(map(sum, made)) / side**2
    return runs + 3 * blocks + 40 * corners + 10 * int(abs(dark - 0.5) * 20)


def _runs(line: list[bool]) -> list[int]:
    return [len(list(run)) for _, run in groupby(line)]


def qr_lines(text: str) -> list[str]:
    """The code for a terminal, two rows in a line, dark on light whatever the terminal's colours."""
    matrix = qr_matrix(text)
    white = [False] * (len(matrix) + 2 * QUIET)
    rows = [
        *([white] * QUIET),
        *([False] * QUIET + row + [False] * QUIET for row in matrix),
        *([white] * (QUIET + 1)),
    ]
    # Light is what is printed: most terminals are dark.
    shapes = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    return [
        "".join(shapes[upper, lower] for upper, lower in zip(rows[at], rows[at + 1], strict=True))
        for at in range(0, len(rows) - 1, 2)
    ]


def qr_svg(text: str, label: str) -> str:
    """The code as a picture for a page."""
    from html import escape

    matrix = qr_matrix(text)
    side = len(matrix) + 2 * QUIET
    path = "".join(
        f"M{column + QUIET} {row + QUIET}h1v1h-1z"
        for row, line in enumerate(matrix)
        for column, dark in enumerate(line)
        if dark
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="240" height="240" role="img" '
        f'aria-label="{escape(label)}"><rect width="{side}" height="{side}" fill="#fff"/>'
        f'<path d="{path}" fill="#000"/></svg>'
    )
