// SPDX-License-Identifier: Apache-2.0
//! lz4_flex as a program, for tests/long/peers.bats:
//!
//!     flex dump SIZE     standard input in records of SIZE bytes, each as a 32-bit length
//!                        and what compress_prepend_size makes of it
//!     flex undump        the way back
//!     flex frame SIZE    one frame of blocks of SIZE bytes: 65536, 262144, 1048576, 4194304
//!     flex linked SIZE   the same with linked blocks
//!     flex unframe       the way back

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use std::io::{self, Read, Write};

fn dump(raw: &[u8], size: usize, out: &mut dyn Write) -> io::Result<()> {
    for record in raw.chunks(size) {
        let block = compress_prepend_size(record);
        out.write_all(&(block.len() as u32).to_le_bytes())?;
        out.write_all(&block)?;
    }
    Ok(())
}

fn undump(mut p: &[u8], out: &mut dyn Write) -> io::Result<()> {
    while !p.is_empty() {
        let n = u32::from_le_bytes(p[..4].try_into().unwrap()) as usize;
        out.write_all(&decompress_size_prepended(&p[4..4 + n]).expect("a block that is refused"))?;
        p = &p[4 + n..];
    }
    Ok(())
}

fn frame(raw: &[u8], size: usize, linked: bool, out: &mut dyn Write) -> io::Result<()> {
    let info = FrameInfo::new()
        .block_size(match size {
            65536 => BlockSize::Max64KB,
            262144 => BlockSize::Max256KB,
            1048576 => BlockSize::Max1MB,
            _ => BlockSize::Max4MB,
        })
        .block_mode(if linked { BlockMode::Linked } else { BlockMode::Independent })
        .block_checksums(size == 65536)
        .content_checksum(true);
    let mut encoder = FrameEncoder::with_frame_info(info, out);
    encoder.write_all(raw)?;
    encoder.finish().expect("a frame that can't be ended");
    Ok(())
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let size = args.get(2).map_or(0, |s| s.parse().expect("SIZE"));
    let mut input = Vec::new();
    let mut out = io::BufWriter::new(io::stdout().lock());
    io::stdin().lock().read_to_end(&mut input)?;
    match args[1].as_str() {
        "dump" => dump(&input, size, &mut out)?,
        "undump" => undump(&input, &mut out)?,
        "frame" => frame(&input, size, false, &mut out)?,
        "linked" => frame(&input, size, true, &mut out)?,
        "unframe" => {
            io::copy(&mut FrameDecoder::new(&input[..]), &mut out)?;
        }
        other => panic!("{other}: no such command"),
    }
    out.flush()
}
