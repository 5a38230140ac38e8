//! The answer to each request.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, DiscoverResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, Tool as ToolOnTheWire,
    },
    service::RequestContext,
};
use serde_json::Value;

use crate::{Answer, Refusal, ToolSet};

/// In milliseconds, for client caches: tools change only with the program, which is another process.
pub(crate) const FRESH_MS: u64 = 3_600_000;

/// Wrong parameters make a request of an unknown kind.
const METHODS: [&str; 5] = ["initialize", "server/discover", "ping", "tools/list", "tools/call"];

pub struct Server {
    sets: Vec<Box<dyn ToolSet>>,
    version: String,
}

impl Server {
    pub fn new(sets: Vec<Box<dyn ToolSet>>, version: impl Into<String>) -> Self {
        Self { sets, version: version.into() }
    }

    fn call(&self, tool: &str, arguments: crate::Arguments) -> Result<CallToolResult, ErrorData> {
        let mut sets = self.sets.iter();
        let set = sets.find(|set| set.tools().iter().any(|one| one.name == tool));
        let set = set.ok_or_else(|| self.unknown_tool(tool))?;
        Ok(match set.call(tool, arguments) {
            Ok(Answer { structured, text }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(Value::Object(structured));
                result
            }
            Err(Refusal { reason, remedy }) => {
                let remedy = remedy.map(|remedy| format!("\nhelp: {remedy}")).unwrap_or_default();
                CallToolResult::error(vec![ContentBlock::text(format!("{reason}{remedy}"))])
            }
        })
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let tools = self.sets.iter().flat_map(|set| set.tools());
        let names: Vec<&str> = tools.map(|tool| tool.name).collect();
        // Names from clients may be long or arbitrary.
        let name: String = name.chars().take(80).collect();
        ErrorData::invalid_params(format!("there is no tool {name:?}; there are: {}", names.join(", ")), None)
    }
}

/// The revision without sessions requires a cache lifetime in answers.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let instructions: Vec<&str> = self.sets.iter().map(|set| set.instructions()).collect();
        let information = Implementation::new("stepmark", &self.version);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(information)
            .with_instructions(instructions.join("\n\n"))
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is one page only, and no cursor", None));
        }
        let tools = self.sets.iter().flat_map(|set| set.tools()).map(ToolOnTheWire::from);
        let listed = ListToolsResult::with_all_items(tools.collect());
        Ok(if is_stateless(&context) {
            listed.with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public)
        } else {
            listed
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // May block the thread: the next request is read after this answer.
        self.call(&request.name, request.arguments.unwrap_or_default()).map(CallToolResponse::from)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(80).collect();
        Err(if METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of `{method}` are missing or do not fit"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method:?}"), None)
        })
    }
}
