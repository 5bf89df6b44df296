//! The check of a server's answers from where the load is made: a server that agents reach may be hidden from the coordinator.

use serde::{Deserialize, Serialize};
use tare_load::tls_client;
use tare_plan::contract::Exchange;
use tare_plan::plan::Transport;
use tare_sut::contract::{CheckOutcome, Endpoint, Security, verify_exchanges};
use tare_units::Span;

use crate::error::RunError;
use crate::load_host::session::{Destination, protocol_of, tls_spec};

/// What a server is asked, and what it must answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifyOrder {
    pub destination: Destination,
    pub transport: Transport,
    /// Requests with the answers that they must get.
    pub exchanges: Vec<Exchange>,
    /// The longest time to an answer.
    pub timeout: Span,
}

impl VerifyOrder {
    /// Asks the server from this machine. A name that means nothing here fails every exchange.
    pub fn carry_out(&self) -> Vec<CheckOutcome> {
        match self.endpoint() {
            Ok(endpoint) => verify_exchanges(endpoint, self.exchanges.iter().cloned(), self.timeout.0),
            Err(error) => {
                let failed = |exchange| CheckOutcome::of(exchange, Some(error.to_string()), None);
                self.exchanges.iter().map(failed).collect()
            }
        }
    }

    fn endpoint(&self) -> Result<Endpoint, RunError> {
        let Destination { host, .. } = &self.destination;
        let tls = tls_spec(&self.transport, &self.destination);
        let security = tls.map(|tls| tls_client(&tls, protocol_of(&self.transport.protocol))).transpose()?;
        Ok(Endpoint {
            address: self.destination.resolve()?,
            host: host.clone(),
            is_http2: self.transport.is_http2(),
            security: security.map(|(config, server_name)| Security { config, server_name }),
        })
    }
}
