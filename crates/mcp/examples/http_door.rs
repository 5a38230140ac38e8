//! The server at an address of the loopback, with the two tools that the conformance suite of the protocol
//! calls: that suite speaks HTTP only. Prints its address.
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]

use std::{error::Error, net::Ipv4Addr, sync::Arc};

use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use serde_json::json;
use stepmark_mcp::{Answer, Arguments, Effect, Presence, Refusal, Schema, Server, Tool, ToolSet};
use tokio::net::TcpListener;

/// The tools that the suite calls.
struct Suite;

impl ToolSet for Suite {
    fn instructions(&self) -> &str {
        "For tests."
    }

    fn tools(&self) -> Vec<Tool> {
        let named = [("test_simple_text", "Answers with a text."), ("test_error_handling", "Refuses.")];
        let tool = |(name, description)| Tool {
            name,
            description,
            input: Schema::object([]).closed(),
            output: Schema::object([("said", Presence::Required, Schema::text(""))]),
            effect: Effect::Reads,
        };
        named.map(tool).into()
    }

    fn call(&self, tool: &str, _arguments: Arguments) -> Result<Answer, Refusal> {
        if tool == "test_error_handling" {
            return Err(Refusal::new("This tool intentionally returns an error for testing"));
        }
        let text = "This is a simple text response for testing.".to_owned();
        Ok(Answer { structured: Arguments::from_iter([("said".to_owned(), json!(text))]), text })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = || Ok(Server::new(vec![Box::new(Suite)], env!("CARGO_PKG_VERSION")));
        let door = StreamableHttpService::new(
            server,
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("http://{}/mcp", listener.local_addr()?);
        axum::serve(listener, axum::Router::new().nest_service("/mcp", door)).await?;
        Ok(())
    })
}
