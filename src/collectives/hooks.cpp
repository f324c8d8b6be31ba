// See hooks.hpp.
#include "collectives/hooks.hpp"

namespace sibyl::hooks {

void after_init() {}
void before_finalize() {}
void after_finalize() {}
void after_session_init() {}
void after_session_finalize() {}

}  // namespace sibyl::hooks
