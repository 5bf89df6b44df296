//! Why io_uring cannot be used on this machine, with a remedy.

use std::fs;
use std::io;

use super::UringPoller;

/// Why this process cannot use io_uring; `None` if it can. Opens a ring and closes it again.
pub fn why_unavailable() -> Option<String> {
    let error = UringPoller::new().err()?;
    let disabled = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok();
    Some(explain(&error, disabled.as_deref().map(str::trim)))
}

/// # Source
/// io_uring_setup(2), ERRORS; the kernel's documentation of `kernel.io_uring_disabled`.
fn explain(error: &io::Error, disabled: Option<&str>) -> String {
    match (error.raw_os_error(), disabled) {
        (Some(libc::EPERM), Some("2")) => "sysctl kernel.io_uring_disabled is 2".to_owned(),
        (Some(libc::EPERM), Some("1")) => {
            "sysctl kernel.io_uring_disabled is 1 and this user is not privileged".to_owned()
        }
        (Some(libc::EPERM | libc::EACCES), _) => "it is forbidden here, as by a container's seccomp profile".to_owned(),
        (Some(libc::ENOSYS), _) => "this kernel has none".to_owned(),
        (Some(libc::EINVAL), _) => "this kernel is older than Linux 6.1".to_owned(),
        (Some(libc::ENOMEM), _) => "no memory for it may be locked; see ulimit -l".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_obstacle_is_named() {
        for (errno, disabled, says) in [
            (libc::EPERM, Some("2"), "io_uring_disabled is 2"),
            (libc::EPERM, Some("1"), "not privileged"),
            (libc::EPERM, Some("0"), "seccomp"),
            (libc::EPERM, None, "seccomp"),
            (libc::ENOSYS, None, "has none"),
            (libc::EINVAL, Some("0"), "Linux 6.1"),
            (libc::ENOMEM, Some("0"), "ulimit -l"),
            (libc::EMFILE, Some("0"), "open files"),
        ] {
            let text = explain(&io::Error::from_raw_os_error(errno), disabled);
            assert!(text.contains(says), "{text}");
        }
    }
}
