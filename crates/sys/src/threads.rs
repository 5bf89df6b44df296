//! Threads that the system may refuse. `std::thread::spawn` panics at the limit of processes, so no code but tests calls it.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, scope};

/// Starts a thread. Errors: when the system has no thread left: the user's limit, the memory, or the kernel's own
/// limit.
pub fn spawn<R: Send + 'static>(name: &str, task: impl FnOnce() -> R + Send + 'static) -> io::Result<JoinHandle<R>> {
    Builder::new().name(name.to_owned()).spawn(task)
}

/// Calls `task` for each item, all at the same time in threads of their own. Where the system refuses a thread, this one does the
/// task after the others. The results are in the order of the items; `None` where the task panicked.
pub fn map_in_threads<T: Send, R: Send>(items: Vec<T>, task: impl Fn(T) -> R + Sync) -> Vec<Option<R>> {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let run = |item: &Mutex<Option<T>>| item.lock().unwrap_or_else(PoisonError::into_inner).take().map(&task);
    scope(|scope| {
        let start = |item| Builder::new().spawn_scoped(scope, move || run(item)).map_err(|_| item);
        let threads: Vec<_> = items.iter().map(start).collect();
        threads
            .into_iter()
            .map(|thread| match thread {
                Ok(thread) => thread.join().ok().flatten(),
                Err(item) => run(item),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_its_result_in_order() {
        assert_eq!(map_in_threads(vec![3, 1, 2], |n| n * 2), [Some(6), Some(2), Some(4)]);
        assert!(map_in_threads(Vec::<u8>::new(), |n| n).is_empty());
    }

    #[test]
    fn a_task_that_panics_has_no_result() {
        assert_eq!(map_in_threads(vec![1, 0, 2], |n| 4 / n), [Some(4), None, Some(2)]);
    }
}
