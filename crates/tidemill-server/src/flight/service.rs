//! Handles the requests that `arrow-flight` has no method for, and passes on the others.

use std::sync::Arc;

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::{Any, Command};
use arrow_flight::{
    Action, CancelFlightInfoRequest, CancelFlightInfoResult, CancelStatus, Criteria, Empty, FlightData,
    FlightDescriptor, FlightInfo, HandshakeRequest, PollInfo, SchemaResult, Ticket,
};
use futures::StreamExt as _;
use futures::stream;
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming};

use super::Reply;
use super::door::Door;

/// [`Door`] as a Flight service.
pub(super) struct Service(pub(super) Arc<Door>);

/// The answer of the action `CloseSession` ([Flight.proto][proto], `CloseSessionResult`).
///
/// [proto]: https://github.com/apache/arrow/blob/main/format/Flight.proto
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct CloseSessionResult {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// `CloseSessionResult.Status.CLOSED`.
const CLOSED: i32 = 1;

fn decoded<M: prost::Message + Default>(bytes: &[u8]) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| Status::invalid_argument(error.to_string()))
}

#[tonic::async_trait]
impl FlightService for Service {
    type HandshakeStream = <Door as FlightService>::HandshakeStream;
    type ListFlightsStream = <Door as FlightService>::ListFlightsStream;
    type DoGetStream = <Door as FlightService>::DoGetStream;
    type DoPutStream = <Door as FlightService>::DoPutStream;
    type DoActionStream = <Door as FlightService>::DoActionStream;
    type ListActionsStream = <Door as FlightService>::ListActionsStream;
    type DoExchangeStream = <Door as FlightService>::DoExchangeStream;

    async fn handshake(&self, request: Request<Streaming<HandshakeRequest>>) -> Reply<Self::HandshakeStream> {
        self.0.handshake(request).await
    }

    async fn list_flights(&self, request: Request<Criteria>) -> Reply<Self::ListFlightsStream> {
        self.0.list_flights(request).await
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Reply<FlightInfo> {
        self.0.get_flight_info(request).await
    }

    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Reply<PollInfo> {
        self.0.poll_flight_info(request).await
    }

    /// The columns of a statement, without running it.
    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Reply<SchemaResult> {
        let caller = self.0.caller(&request).await?;
        let command: Any = decoded(&request.get_ref().cmd)?;
        let command = Command::try_from(command).map_err(|error| Status::invalid_argument(error.to_string()))?;
        let schema = self.0.schema_of(command, &caller).await?;
        let described = FlightInfo::new().try_with_schema(&schema);
        let described = described.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(SchemaResult {
            schema: described.schema,
        }))
    }

    async fn do_get(&self, request: Request<Ticket>) -> Reply<Self::DoGetStream> {
        self.0.do_get(request).await
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Reply<Self::DoPutStream> {
        self.0.do_put(request).await
    }

    async fn list_actions(&self, request: Request<Empty>) -> Reply<Self::ListActionsStream> {
        self.0.caller(&request).await?;
        self.0.list_actions(request).await
    }

    async fn do_action(&self, request: Request<Action>) -> Reply<Self::DoActionStream> {
        let body = match request.get_ref().r#type.as_str() {
            "CancelFlightInfo" => {
                let caller = self.0.caller(&request).await?;
                let asked: CancelFlightInfoRequest = decoded(&request.get_ref().body)?;
                let is_cancelled = asked.info.is_some_and(|info| self.0.cancel_flight(&caller, &info));
                let status = match is_cancelled {
                    true => CancelStatus::Cancelled,
                    false => CancelStatus::NotCancellable,
                };
                CancelFlightInfoResult::new(status).encode_to_vec()
            }
            "CloseSession" => {
                let caller = self.0.caller(&request).await?;
                self.0.close(&caller);
                CloseSessionResult { status: CLOSED }.encode_to_vec()
            }
            _ => return self.0.do_action(request).await,
        };
        let answer = arrow_flight::Result::new(body);
        Ok(Response::new(stream::once(async { Ok(answer) }).boxed()))
    }

    async fn do_exchange(&self, request: Request<Streaming<FlightData>>) -> Reply<Self::DoExchangeStream> {
        self.0.do_exchange(request).await
    }
}
