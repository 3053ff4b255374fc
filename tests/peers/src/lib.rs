// SPDX-License-Identifier: Apache-2.0
//! The Rust peers behind C names that can't be mistaken for ours, so that one
//! process can hold both.  Lengths are bytes; a negative result is an error.

use std::slice;

/// # Safety
/// src holds src_len bytes, dst dst_cap.
#[no_mangle]
pub unsafe extern "C" fn peer_lzvolt_pack(src: *const u8, src_len: usize, dst: *mut u8, dst_cap: usize) -> i64 {
    lzvolt::ffi::lzvolt_compress(src, src_len, dst, dst_cap)
}

/// # Safety
/// src holds src_len bytes, dst dst_cap.
#[no_mangle]
pub unsafe extern "C" fn peer_lzvolt_unpack(src: *const u8, src_len: usize, dst: *mut u8, dst_cap: usize) -> i64 {
    lzvolt::ffi::lzvolt_decompress(src, src_len, dst, dst_cap)
}

/// # Safety
/// src holds src_len bytes, dst dst_cap.
#[no_mangle]
pub unsafe extern "C" fn peer_lzvolt_unpack_lz4(
    src: *const u8, src_len: usize, dst: *mut u8, dst_cap: usize, declared: usize,
) -> i64 {
    lzvolt::ffi::lzvolt_decompress_lz4(src, src_len, dst, dst_cap, declared)
}

#[no_mangle]
pub extern "C" fn peer_lzvolt_bound(declared: usize) -> usize {
    lzvolt::ffi::lzvolt_decompress_bound(declared)
}

#[no_mangle]
pub extern "C" fn peer_lzvolt_backend() -> *const std::ffi::c_char {
    lzvolt::ffi::lzvolt_backend()
}

/// # Safety
/// src holds src_len bytes, dst dst_cap.
#[no_mangle]
pub unsafe extern "C" fn peer_lz4_flex_pack(src: *const u8, src_len: usize, dst: *mut u8, dst_cap: usize) -> i64 {
    let (src, dst) = (slice::from_raw_parts(src, src_len), slice::from_raw_parts_mut(dst, dst_cap));
    lz4_flex::block::compress_into(src, dst).map_or(-1, |n| n as i64)
}

/// # Safety
/// src holds src_len bytes, dst dst_cap.
#[no_mangle]
pub unsafe extern "C" fn peer_lz4_flex_unpack(src: *const u8, src_len: usize, dst: *mut u8, dst_cap: usize) -> i64 {
    let (src, dst) = (slice::from_raw_parts(src, src_len), slice::from_raw_parts_mut(dst, dst_cap));
    lz4_flex::block::decompress_into(src, dst).map_or(-1, |n| n as i64)
}
