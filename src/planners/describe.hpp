// The table of algorithms as a page of the documentation.
#pragma once

#include <string>

namespace sibyl {

// The text of docs/reference/algorithms.md. A test holds the file against it.
std::string algorithms_markdown();

}  // namespace sibyl
