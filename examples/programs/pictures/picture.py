"""Draws a gradient of two colours as a PNG, with the standard library only."""

import json
import struct
import sys
import zlib

inputs = json.load(sys.stdin)
width, height = int(inputs.get("width", 256)), int(inputs.get("height", 256))
if not (1 <= width <= 4096 and 1 <= height <= 4096):
    sys.exit(f"a picture of {width}x{height} pixels is not possible")


def colour(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("#"))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


top, bottom = colour(inputs["top"]), colour(inputs["bottom"])
rows = []
for y in range(height):
    share = y / max(1, height - 1)
    pixel = bytes(round(a + (b - a) * share) for a, b in zip(top, bottom))
    rows.append(b"\0" + pixel * width)
    if y % 64 == 0:
        print(f"progress {share:.2f}", flush=True)

header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
with open("picture.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
    file.write(chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))
