//! The check of a server's answers from where the load is made: a server that agents reach may be hidden from the coordinator.

use serde::{Deserialize, Serialize};
use tare_load::{Cancel, tls_client};
use tare_plan::contract::Exchange;
use tare_plan::plan::Transport;
use tare_sut::contract::{CheckOutcome, Endpoint, Security, verify_exchanges};
use tare_units::Span;

use crate::error::RunError;
use crate::load_host::session::{Destination, tls_spec};

/// What a server is asked, and what it must answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifyOrder {
    pub destination: Destination,
    pub transport: Transport,
    pub exchanges: Vec<Exchange>,
    pub timeout: Span,
}

impl VerifyOrder {
    /// Asks the server from this machine. What was not answered before `cancel` has no outcome. An unknown name fails all.
    pub fn carry_out(&self, cancel: &Cancel) -> Vec<CheckOutcome> {
        match self.endpoint(cancel) {
            Ok(endpoint) => {
                let asked = self.exchanges.iter().take_while(|_| !cancel.is_cancelled());
                let mut outcomes = verify_exchanges(endpoint, asked.cloned(), self.timeout.0);
                // Its server is not to blame.
                outcomes.pop_if(|last| cancel.is_cancelled() && !last.passed && last.answer.is_none());
                outcomes
            }
            Err(error) => {
                let failed = |exchange| CheckOutcome::of(exchange, Some(error.to_string()), None);
                self.exchanges.iter().map(failed).collect()
            }
        }
    }

    fn endpoint(&self, cancel: &Cancel) -> Result<Endpoint, RunError> {
        let Destination { host, .. } = &self.destination;
        let tls = tls_spec(&self.transport, &self.destination);
        let security = tls.map(|tls| tls_client(&tls, self.transport.protocol)).transpose()?;
        Ok(Endpoint {
            address: self.destination.resolve()?,
            host: host.clone(),
            is_http2: self.transport.is_http2(),
            cancelled: Some(cancel.flag()),
            security: security.map(|(config, server_name)| Security { config, server_name }),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tare_plan::contract::Contract;

    use super::*;

    #[test]
    fn after_ctrl_c_a_server_is_asked_nothing_more() {
        let checks = ["a", "b", "c"].map(|name| {
            format!("[[checks]]\nname = \"{name}\"\nrequest = {{ path = \"/\" }}\nexpect = {{ body = \"4\" }}\n")
        });
        let contract = Contract::parse("contract.toml", &format!("schema = 1\n{}", checks.concat())).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let order = VerifyOrder {
            destination: Destination { address: listener.local_addr().unwrap(), host: None },
            transport: Transport::default(),
            exchanges: contract.exchanges("x", 1).collect(),
            timeout: Span::from_secs(5),
        };
        let cancel = Cancel::new();
        let pressed = cancel.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                // While the first answer is awaited.
                pressed.cancel();
                drop(connection);
            }
        });
        let asked: Vec<String> = order.carry_out(&cancel).into_iter().map(|outcome| outcome.check).collect();
        assert_eq!(asked, [""; 0], "the server did not fail");
    }
}
