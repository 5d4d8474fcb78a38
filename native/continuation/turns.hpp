// The turns that a continuation adds to a conversation, as each dialect writes them.
#pragma once

#include <string_view>

#include "core/dialect/dialect.hpp"
#include "native/continuation/json_edit.hpp"
#include "native/continuation/providers.hpp"

namespace tidemark::continuation {

/// Makes the text the last turn of the conversation, the assistant's, to be gone on with. Where the client's last turn
/// was one already, the text goes on in it. Precondition: why_no_seam() finds nothing.
void add_prefix(JsonEdit& edit, dialect::Dialect dialect, const JsonObject& body, std::string_view text,
                const PrefixManner& manner);

/// Adds the text as the assistant's turn, and a user's turn that says `notice`. `joined`: where the client's last turn
/// was the assistant's, the answer went on in it. Precondition: as above.
void add_user_turn(JsonEdit& edit, dialect::Dialect dialect, const JsonObject& body, std::string_view text,
                   std::string_view notice, bool joined);

}  // namespace tidemark::continuation
