// Smaller ranges where a sanitizer looks at every access: it sees the same code on them, and the
// release build goes over all.
#pragma once

namespace sibyl {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace sibyl
