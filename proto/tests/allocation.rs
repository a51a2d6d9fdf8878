//! A hostile header makes the decoder allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::{BufMut, BytesMut};
use proto::frame::{Arrival, FrameCodec, FrameLimit, HEADER_BYTES, MAGIC, VERSION};
use tokio_util::codec::Decoder;

/// Counts allocations per thread, so that parallel tests do not disturb the count.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.with(|asked| asked.set(asked.get() + layout.size()));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.with(|asked| asked.set(asked.get() + size));
        // SAFETY: as the caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn bytes_asked_for<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ASKED.with(Cell::get);
    let result = work();
    (ASKED.with(Cell::get) - before, result)
}

fn header(total: u32) -> BytesMut {
    let mut wire = BytesMut::with_capacity(HEADER_BYTES);
    for word in [MAGIC, total, 1, 1, VERSION] {
        wire.put_u32(word);
    }
    wire
}

/// What one BLE write carries at the usual ATT MTU of 247.
const FRAGMENT: usize = 244;

#[test]
fn the_counter_counts() {
    let (asked, held) = bytes_asked_for(|| vec![0_u8; 12_345]);
    assert!(asked >= held.len());
}

#[test]
fn a_promised_length_reserves_nothing() {
    for limit in [FrameLimit::Stranger, FrameLimit::Peer, FrameLimit::Local] {
        for total in [20 + 1, limit.bytes() as u32] {
            let mut wire = header(total);
            let mut codec = FrameCodec::new(limit);
            let capacity = wire.capacity();
            let (asked, result) = bytes_asked_for(|| codec.decode(&mut wire));
            assert!(matches!(result, Ok(None)));
            assert_eq!((asked, wire.capacity()), (0, capacity));
        }
    }
}

#[test]
fn an_impossible_length_reserves_nothing() {
    for total in [0, 19, FrameLimit::Peer.bytes() as u32 + 1, 8 << 20, u32::MAX] {
        let mut wire = header(total);
        let (asked, result) = bytes_asked_for(|| FrameCodec::new(FrameLimit::Peer).decode(&mut wire));
        assert!(result.is_err());
        assert_eq!(asked, 0);
    }
}

#[test]
fn while_a_frame_arrives_the_decoder_never_asks_for_more_than_one_fragment() {
    let total = FrameLimit::Peer.bytes();
    let mut codec = FrameCodec::new(FrameLimit::Peer);
    // Capacity for the whole frame, so that every allocation counted below is the decoder's and not the
    // buffer's.
    let mut wire = BytesMut::with_capacity(total);
    wire.extend_from_slice(&header(total as u32));
    while wire.len() < total {
        let (asked, result) = bytes_asked_for(|| codec.decode(&mut wire));
        assert!(matches!(result, Ok(None)));
        assert_eq!(asked, 0);
        wire.put_bytes(7, FRAGMENT.min(total - wire.len()));
    }
    let (asked, result) = bytes_asked_for(|| codec.decode(&mut wire));
    assert!(matches!(result, Ok(Some(Arrival::Next(_)))));
    assert!(asked <= FRAGMENT, "the payload shares the buffer; {asked} bytes were asked for");
}
