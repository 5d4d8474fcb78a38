// Server-sent events, events to bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/sse/parser.hpp"

namespace tidemark::sse {

/// Appends the event's block with `id: ID` as its first line and its own id lines left out; every other byte is the
/// block's (contract § 3.1). The id line and the closing blank line end as the block's last remaining line does. Uses
/// `block`, `line_end` and `has_id` only. `id` must not hold CR, LF or NUL.
void append_with_id(std::string& out, const Event& event, std::string_view id);

/// Appends an event made here. `name` empty: no event line. Data is split into lines at CR, LF and CRLF.
/// `id` empty: no id line. `name` and `id` must be one line, `id` without NUL.
void append_event(std::string& out, std::string_view name, std::string_view data, std::string_view id = {});

/// Appends `: TEXT` and a blank line. `text` must be one line.
void append_comment(std::string& out, std::string_view text);

}  // namespace tidemark::sse
