//! Buffers that the kernel fills with received bytes. A ring in shared memory lends them, and they are returned one by
//! one.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use super::ring::Ring;

/// The group id by which requests name the buffers.
pub(super) const GROUP: u16 = 0;
/// Number of buffers: usually more than the answers of one wait. When they run out, receiving stops and is requested
/// again.
const COUNT: u16 = 256;
/// Larger than most answers.
const BUFFER_BYTES: usize = 16 * 1024;
const RING_BYTES: usize = COUNT as usize * size_of::<BufRingEntry>();
/// The ring must begin on a page, and the buffers follow it in the same allocation.
const LAYOUT: Layout = match Layout::from_size_align(RING_BYTES + COUNT as usize * BUFFER_BYTES, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("the sizes are constants"),
};

/// Memory lent to the kernel.
pub(super) struct Buffers {
    memory: NonNull<u8>,
    tail: u16,
    is_lent: bool,
}

impl Buffers {
    /// Allocates the buffers and lends all of them to the ring.
    pub(super) fn lend_to(ring: &Ring) -> io::Result<Self> {
        // SAFETY: the layout's size is not 0.
        let memory = NonNull::new(unsafe { alloc_zeroed(LAYOUT) }).unwrap_or_else(|| handle_alloc_error(LAYOUT));
        let mut buffers = Self { memory, tail: 0, is_lent: false };
        for id in 0..COUNT {
            buffers.give_back(id);
        }
        let address = memory.as_ptr() as u64;
        // SAFETY: the memory begins on a page and has room for COUNT entries; it is freed only once it has been
        // unregistered (`Buffers::reclaim`).
        unsafe { ring.inner().submitter().register_buf_ring_with_flags(address, COUNT, GROUP, 0) }?;
        buffers.is_lent = true;
        Ok(buffers)
    }

    /// The first bytes of a buffer that the kernel has filled.
    pub(super) fn filled(&self, id: u16, length: usize) -> &[u8] {
        let (id, length) = (usize::from(id % COUNT), length.min(BUFFER_BYTES));
        // SAFETY: within the allocation, and initialised (zeroed at first). The kernel does not write to it: it has
        // given this buffer to us and gets it back only from `give_back`, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(RING_BYTES + id * BUFFER_BYTES), length) }
    }

    /// Lends a buffer to the kernel, for the first time or again.
    pub(super) fn give_back(&mut self, id: u16) {
        let id = id % COUNT;
        let offset = RING_BYTES + usize::from(id) * BUFFER_BYTES;
        let index = usize::from(self.tail % COUNT);
        // SAFETY: the entry is in the ring at the beginning of the allocation, which is aligned for it. The kernel does
        // not read it before the tail has moved past it.
        let entry = unsafe { &mut *self.memory.as_ptr().cast::<BufRingEntry>().add(index) };
        entry.set_addr(self.memory.as_ptr() as u64 + offset as u64);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is a field of the first entry that neither side uses otherwise. It is aligned for a u16, and
        // accessed only as an atomic once it has been lent.
        let tail = unsafe { &*BufRingEntry::tail(self.memory.as_ptr().cast()).cast::<AtomicU16>() };
        tail.store(self.tail, Ordering::Release);
    }

    /// Takes all buffers back before the ring is dropped.
    pub(super) fn reclaim(&mut self, ring: &Ring) {
        if self.is_lent && ring.inner().submitter().unregister_buf_ring(GROUP).is_ok() {
            self.is_lent = false;
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // Memory that the kernel may still write to is leaked, not freed.
        if !self.is_lent {
            // SAFETY: allocated with this layout, and the kernel no longer uses it.
            unsafe { dealloc(self.memory.as_ptr(), LAYOUT) };
        }
    }
}
