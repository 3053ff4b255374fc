// SPDX-License-Identifier: Apache-2.0

// pierrec's lz4 as a program, for tests/long/peers.bats:
//
//	pierrec dump SIZE	standard input in records of SIZE bytes, each as a 32-bit
//				length, a 32-bit size and a block by CompressBlock
//	pierrec hc SIZE		the same by CompressBlockHC
//	pierrec undump		the way back
//	pierrec frame SIZE	one frame of blocks of SIZE bytes: 65536, 262144, 1048576, 4194304
//	pierrec unframe		the way back
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strconv"

	"github.com/pierrec/lz4/v4"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// CompressBlock answers 0 for what doesn't shrink; then the block is one run of literals.
func literals(raw []byte) []byte {
	block := []byte{byte(len(raw)) << 4}
	if len(raw) >= 15 {
		block[0] = 0xf0
		rest := len(raw) - 15
		for ; rest >= 255; rest -= 255 {
			block = append(block, 255)
		}
		block = append(block, byte(rest))
	}
	return append(block, raw...)
}

func pack(raw []byte, hc bool) []byte {
	block := make([]byte, lz4.CompressBlockBound(len(raw)))
	n, err := 0, error(nil)
	if hc {
		n, err = lz4.CompressBlockHC(raw, block, lz4.Level9, nil, nil)
	} else {
		n, err = lz4.CompressBlock(raw, block, nil)
	}
	must(err)
	if n == 0 {
		return literals(raw)
	}
	return block[:n]
}

func dump(raw []byte, size int, hc bool, out io.Writer) {
	for len(raw) > 0 {
		n := size
		if n > len(raw) {
			n = len(raw)
		}
		block := pack(raw[:n], hc)
		var head [8]byte
		binary.LittleEndian.PutUint32(head[:4], uint32(len(block)+4))
		binary.LittleEndian.PutUint32(head[4:], uint32(n))
		out.Write(head[:])
		out.Write(block)
		raw = raw[n:]
	}
}

func undump(p []byte, out io.Writer) {
	for len(p) > 0 {
		n := binary.LittleEndian.Uint32(p)
		raw := make([]byte, binary.LittleEndian.Uint32(p[4:]))
		made, err := lz4.UncompressBlock(p[8:4+n], raw)
		must(err)
		out.Write(raw[:made])
		p = p[4+n:]
	}
}

func frame(raw []byte, size int, out io.Writer) {
	w := lz4.NewWriter(out)
	must(w.Apply(lz4.BlockSizeOption(lz4.BlockSize(size)), lz4.BlockChecksumOption(size == 65536)))
	_, err := w.Write(raw)
	must(err)
	must(w.Close())
}

func main() {
	in, err := io.ReadAll(os.Stdin)
	must(err)
	out := bufio.NewWriter(os.Stdout)
	size := 0
	if len(os.Args) > 2 {
		size, err = strconv.Atoi(os.Args[2])
		must(err)
	}
	switch os.Args[1] {
	case "dump", "hc":
		dump(in, size, os.Args[1] == "hc", out)
	case "undump":
		undump(in, out)
	case "frame":
		frame(in, size, out)
	case "unframe":
		_, err = io.Copy(out, lz4.NewReader(bytes.NewReader(in)))
		must(err)
	default:
		panic(os.Args[1] + ": no such command")
	}
	must(out.Flush())
}
