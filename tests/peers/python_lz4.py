# SPDX-License-Identifier: Apache-2.0
"""python-lz4 as a program, for tests/long/peers.bats:

    dump SIZE     standard input in records of SIZE bytes, each as a 32-bit length and
                  lz4.block.compress with store_size
    hc SIZE       the same with mode=high_compression
    undump        the way back
    frame SIZE    one frame of blocks of SIZE bytes: 65536, 262144, 1048576, 4194304
    linked SIZE   the same with linked blocks
    unframe       the way back
"""
import struct
import sys

import lz4.block
import lz4.frame

BLOCKS = {65536: lz4.frame.BLOCKSIZE_MAX64KB, 262144: lz4.frame.BLOCKSIZE_MAX256KB,
          1048576: lz4.frame.BLOCKSIZE_MAX1MB, 4194304: lz4.frame.BLOCKSIZE_MAX4MB}


def dump(raw, size, mode):
    for at in range(0, len(raw), size):
        block = lz4.block.compress(raw[at:at + size], mode=mode, store_size=True)
        yield struct.pack("<I", len(block)) + block


def undump(p):
    at = 0
    while at < len(p):
        n, = struct.unpack_from("<I", p, at)
        yield lz4.block.decompress(p[at + 4:at + 4 + n])
        at += 4 + n


def frame(raw, size, linked):
    yield lz4.frame.compress(raw, block_size=BLOCKS[size], block_linked=linked,
                             content_checksum=True, block_checksum=size == 65536)


what, p = sys.argv[1], sys.stdin.buffer.read()
size = int(sys.argv[2]) if len(sys.argv) > 2 else 0
out = {"dump": lambda: dump(p, size, "default"), "hc": lambda: dump(p, size, "high_compression"),
       "undump": lambda: undump(p), "frame": lambda: frame(p, size, False),
       "linked": lambda: frame(p, size, True),
       "unframe": lambda: [lz4.frame.decompress(p)]}[what]()
for piece in out:
    sys.stdout.buffer.write(piece)
