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
    pub(super) fn lend_to(ring: &Ring) -> io::Result<Self> {
        let mut buffers = Self::allocate();
        let address = buffers.memory.as_ptr() as u64;
        // SAFETY: the memory begins on a page and has room for COUNT entries; it is freed only once it has been
        // unregistered (`Buffers::reclaim`).
        unsafe { ring.inner().submitter().register_buf_ring_with_flags(address, COUNT, GROUP, 0) }?;
        buffers.is_lent = true;
        Ok(buffers)
    }

    /// Allocates the buffers and lists all of them in the memory of the ring.
    fn allocate() -> Self {
        // SAFETY: the layout's size is not 0.
        let memory = NonNull::new(unsafe { alloc_zeroed(LAYOUT) }).unwrap_or_else(|| handle_alloc_error(LAYOUT));
        let mut buffers = Self { memory, tail: 0, is_lent: false };
        (0..COUNT).for_each(|id| buffers.give_back(id));
        buffers
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes into the buffer of an entry as the kernel does, by the address that stands there; returns the buffer's id.
    fn fill(buffers: &Buffers, index: u16, byte: u8) -> u16 {
        // SAFETY: the entry is one of COUNT, and its address and length are those of a buffer that nobody reads now.
        unsafe {
            let entry = &*buffers.memory.as_ptr().cast::<BufRingEntry>().add(usize::from(index % COUNT));
            std::ptr::with_exposed_provenance_mut::<u8>(entry.addr() as usize).write_bytes(byte, entry.len() as usize);
            entry.bid()
        }
    }

    // It makes no system call, so Miri can execute it.
    #[test]
    fn each_buffer_has_memory_of_its_own_and_is_lent_again_behind_the_others() {
        let mut buffers = Buffers::allocate();
        for index in [0, 1, COUNT - 1] {
            assert_eq!(fill(&buffers, index, index as u8), index);
        }
        assert_eq!(buffers.filled(0, 3), [0; 3]);
        assert_eq!(buffers.filled(1, BUFFER_BYTES), [1; BUFFER_BYTES]);
        assert_eq!(buffers.filled(COUNT - 1, usize::MAX), [(COUNT - 1) as u8; BUFFER_BYTES], "no further than its end");
        for id in [1, 0] {
            buffers.give_back(id);
        }
        assert_eq!((fill(&buffers, COUNT, 7), fill(&buffers, COUNT + 1, 8), buffers.tail), (1, 0, COUNT + 2));
        assert_eq!((buffers.filled(0, 1), buffers.filled(1, 1)), (&[8][..], &[7][..]));
    }
}
