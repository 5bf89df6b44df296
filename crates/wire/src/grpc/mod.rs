//! What gRPC adds to a request and its answer over HTTP/2: the frame around a message, and a status in the trailers.
//! Unary calls only (`doc/PROTOCOL-HTTP2.md` and `doc/statuscodes.md` of the gRPC project).

mod code;
mod message;
mod reply;

pub use code::Code;
pub use message::{MAX_MESSAGE_BYTES, frame};
pub use reply::{Reply, ReplyError};

/// The header fields of every call.
pub const HEADERS: [(&str, &str); 2] = [("content-type", CONTENT_TYPE), ("te", "trailers")];

/// The content type of calls and answers, to which a format may be added, as in `application/grpc+proto`.
const CONTENT_TYPE: &str = "application/grpc";

/// The path of a method that is written `package.Service/Method`.
pub fn path_of(method: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '.')
    };
    match method.strip_prefix('/').unwrap_or(method).split_once('/') {
        Some((service, name)) if is_name(service) && is_name(name) => Ok(format!("/{service}/{name}")),
        _ => Err(format!("\"{method}\" is not a method of gRPC; write package.Service/Method")),
    }
}

pub fn is_content_type(value: &str) -> bool {
    let parts = value.trim().split_at_checked(CONTENT_TYPE.len());
    parts.is_some_and(|(begin, rest)| {
        begin.eq_ignore_ascii_case(CONTENT_TYPE) && (rest.is_empty() || rest.starts_with(['+', ';']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_a_service_and_a_name() {
        assert_eq!(path_of("hello.Greeter/SayHello").unwrap(), "/hello.Greeter/SayHello");
        assert_eq!(path_of("/Greeter/SayHello").unwrap(), "/Greeter/SayHello");
        for wrong in ["", "/", "SayHello", "Greeter/", "/SayHello", "a/b/c", "hello.Greeter.SayHello", "a b/c", "a/b?c"]
        {
            assert!(path_of(wrong).unwrap_err().ends_with("write package.Service/Method"), "{wrong}");
        }
    }

    #[test]
    fn a_content_type_may_name_the_format_of_messages() {
        for (value, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc;charset=utf-8", true),
            ("Application/gRPC", true),
            ("application/grpc-web", false),
            ("text/html", false),
        ] {
            assert_eq!(is_content_type(value), expected, "{value}");
        }
    }
}
