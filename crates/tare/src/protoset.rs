//! Messages of gRPC calls, from JSON and a descriptor set.

use std::path::{Path, PathBuf};

use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};

use crate::failure::wrong_usage;

#[derive(Debug)]
pub struct Protoset {
    file: PathBuf,
    pool: DescriptorPool,
}

impl Protoset {
    pub fn parse(file: &Path, contents: &[u8]) -> anyhow::Result<Self> {
        let pool = DescriptorPool::decode(contents).map_err(|why| {
            wrong_usage(format!(
                "{}: is no whole descriptor set ({why}); make one with protoc --include_imports --descriptor_set_out, or \
                 buf build -o",
                file.display()
            ))
        })?;
        Ok(Self { file: file.to_owned(), pool })
    }

    /// The bytes of the message that `json` states, for the unary method with this path: `/package.Service/Method`.
    pub fn message(&self, path: &str, json: &str) -> anyhow::Result<Vec<u8>> {
        let file = self.file.display();
        let (service_name, name) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let service = self.pool.get_service_by_name(service_name).ok_or_else(|| {
            let known: Vec<String> = self.pool.services().map(|service| service.full_name().to_owned()).collect();
            wrong_usage(format!("{file}: has no service {service_name}; it has {}", listed(&known)))
        })?;
        let method = service.methods().find(|method| method.name() == name).ok_or_else(|| {
            let known: Vec<String> = service.methods().map(|method| method.name().to_owned()).collect();
            wrong_usage(format!("{file}: {service_name} has no method {name}; it has {}", listed(&known)))
        })?;
        if method.is_client_streaming() || method.is_server_streaming() {
            return Err(wrong_usage(format!("{file}: {name} streams its messages; tare makes unary calls only")));
        }
        let wrong = |why: serde_json::Error| {
            wrong_usage(format!("the message is no {} in JSON: {why}", method.input().full_name()))
        };
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let message = DynamicMessage::deserialize(method.input(), &mut deserializer).map_err(wrong)?;
        deserializer.end().map_err(wrong)?;
        Ok(message.encode_to_vec())
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
    use prost_reflect::prost_types::{
        DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
        ServiceDescriptorProto,
    };

    use super::*;

    fn protoset() -> Vec<u8> {
        let field = |name: &str, number, kind: Type| FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            label: Some(Label::Optional.into()),
            r#type: Some(kind.into()),
            ..FieldDescriptorProto::default()
        };
        let method = |name: &str, streams| MethodDescriptorProto {
            name: Some(name.to_owned()),
            input_type: Some(".hello.Request".to_owned()),
            output_type: Some(".hello.Request".to_owned()),
            server_streaming: Some(streams),
            ..MethodDescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some("hello.proto".to_owned()),
            package: Some("hello".to_owned()),
            syntax: Some("proto3".to_owned()),
            message_type: vec![DescriptorProto {
                name: Some("Request".to_owned()),
                field: vec![field("name", 1, Type::String), field("count", 2, Type::Int32)],
                ..DescriptorProto::default()
            }],
            service: vec![ServiceDescriptorProto {
                name: Some("Greeter".to_owned()),
                method: vec![method("SayHello", false), method("Watch", true)],
                ..ServiceDescriptorProto::default()
            }],
            ..FileDescriptorProto::default()
        };
        FileDescriptorSet { file: vec![file] }.encode_to_vec()
    }

    fn message(path: &str, json: &str) -> Result<Vec<u8>, String> {
        let protoset = Protoset::parse(Path::new("hello.protoset"), &protoset()).unwrap();
        protoset.message(path, json).map_err(|error| error.to_string())
    }

    #[test]
    fn json_becomes_the_message_that_the_method_takes() {
        let ada = message("/hello.Greeter/SayHello", "{\"name\": \"ada\", \"count\": 5}");
        assert_eq!(ada, Ok(b"\x0a\x03ada\x10\x05".to_vec()));
        assert_eq!(message("/hello.Greeter/SayHello", "{}"), Ok(Vec::new()));
    }

    #[test]
    fn what_the_descriptor_set_does_not_have_is_named_with_what_it_has() {
        for (path, json, says) in [
            ("/Greeter/SayHello", "{}", "hello.protoset: has no service Greeter; it has hello.Greeter"),
            ("/hello.Greeter/SayHallo", "{}", "hello.Greeter has no method SayHallo; it has SayHello, Watch"),
            ("/hello.Greeter/Watch", "{}", "Watch streams its messages; tare makes unary calls only"),
            ("/hello.Greeter/SayHello", "{\"nam\": 1}", "the message is no hello.Request in JSON: "),
            ("/hello.Greeter/SayHello", "{} {}", "the message is no hello.Request in JSON: trailing characters"),
        ] {
            let error = message(path, json).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let error = Protoset::parse(Path::new("a.txt"), b"text").unwrap_err().to_string();
        assert!(error.contains("a.txt: is no whole descriptor set"), "{error}");
    }
}
