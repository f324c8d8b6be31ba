// The guard of each thread; see entry.hpp.
#include "preload/implementation/entry.hpp"

namespace sibyl::preload {

thread_local Entry::Guard Entry::guard;

}  // namespace sibyl::preload
