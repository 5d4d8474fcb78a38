// What in a request's body stands against continuing its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dialect/dialect.hpp"
#include "core/seam/form.hpp"
#include "native/continuation/json_edit.hpp"

namespace tidemark::continuation {

/// why_no_seam() of a body that has been read.
std::optional<std::string_view> why_no_seam(seam::Form form, dialect::Dialect dialect, const JsonObject& body);

/// Whether the request asks for a thinking mode, in any of the ways that providers have for it.
bool asks_for_thinking(const JsonObject& body, std::string_view model);

}  // namespace tidemark::continuation
