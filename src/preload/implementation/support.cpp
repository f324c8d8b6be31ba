// The implementation's side of the preload: what the shim asks a library for (identity, attach,
// lookup) and what the wrappers share. Compiled once per MPI, with that MPI's mpi.h; links no MPI,
// since the shim binds it to the MPI library that the program already uses.
#include "preload/implementation/support.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "collectives/call.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/make_private.hpp"
#include "preload/implementation/known_calls.hpp"
#include "selection/settings.hpp"

#if !SIBYL_PRELOAD_OPENMPI && !defined(MPICH_VERSION) && !defined(I_MPI_VERSION) && \
    !defined(MVAPICH_VERSION) && !defined(MVAPICH2_VERSION) && !SIBYL_STANDARD_ABI
#error "no preload implementation for this MPI: it has Open MPI's, MPICH's or the standard's ABI"
#endif

namespace sibyl::preload {

int library_version = 0;

namespace {

// Addresses that stand for a constant. An executable and the MPI library normally share one
// variable; of objects that were loaded locally, as Python's modules are, each may have its own.
// Names are those of the four manglings of Fortran.
class Constant {
 public:
  explicit Constant(const std::array<const char*, 4>& names) noexcept : names_(names) {}
  // As this scope sees it: RTLD_DEFAULT, or a loaded object.
  void find(void* scope) {
    for (const char* name : names_) add(dlsym(scope, name));
  }
  bool is(const void* address) const {
    const std::size_t size = size_.load(std::memory_order_acquire);
    return std::find(addresses_.begin(), addresses_.begin() + size, address) !=
           addresses_.begin() + size;
  }

 private:
  void add(void* address) {
    const std::size_t size = size_.load(std::memory_order_relaxed);
    if (address == nullptr || is(address) || size == addresses_.size()) return;
    addresses_[size] = address;
    size_.store(size + 1, std::memory_order_release);
  }
  std::array<const char*, 4> names_;
  std::array<void*, 64> addresses_{};
  std::atomic<std::size_t> size_ = 0;
};

Constant in_place({"mpi_fortran_in_place_", "mpi_fortran_in_place__", "mpi_fortran_in_place",
                   "MPI_FORTRAN_IN_PLACE"});
Constant bottom({"mpi_fortran_bottom_", "mpi_fortran_bottom__", "mpi_fortran_bottom",
                 "MPI_FORTRAN_BOTTOM"});
void (*for_each_object)(int (*)(const char*, void*), void*) = nullptr;
void* (*find_native)(const char*) = nullptr;
void* (*find_hand_back)(const char*) = nullptr;
bool reports = false;
bool serves_none = false;  // and tells nobody of any

// The first number in the library's description: "Open MPI v4.1.4, ..." is 4.
int read_library_version() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return 0;
  const char* digit = std::strpbrk(text, "0123456789");
  return digit == nullptr ? 0 : std::atoi(digit);
}

#if SIBYL_PRELOAD_OPENMPI
// By one thread at a time.
void find_fortran_constants() {
  in_place.find(RTLD_DEFAULT);
  bottom.find(RTLD_DEFAULT);
  for_each_object(
      [](const char* object, void*) {
        void* const loaded = dlopen(object, RTLD_NOLOAD | RTLD_LAZY);
        if (loaded == nullptr) return 0;
        in_place.find(loaded);
        bottom.find(loaded);
        dlclose(loaded);
        return 0;
      },
      nullptr);
}

// Once for each place from which Fortran calls: its object may have been loaded since.
void know_constants_of(const void* place) {
  static std::array<std::atomic<const void*>, 256> known{};
  const auto number = reinterpret_cast<std::uintptr_t>(place);
  std::atomic<const void*>& there = known[(number * 0x9e3779b97f4a7c15U >> 32) % known.size()];
  if (place != nullptr && there.load(std::memory_order_acquire) == place) return;
  static std::mutex finding;
  const std::lock_guard<std::mutex> lock(finding);
  static std::uint64_t loaded = 0;  // objects, ever, when it was looked last
  std::uint64_t now = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* count) {
        *static_cast<std::uint64_t*>(count) = info->dlpi_adds;
        return 1;
      },
      &now);
  if (loaded != now) find_fortran_constants();
  loaded = now;
  there.store(place, std::memory_order_release);
}
#endif

// The recorder of `sibyl profile`, which watches from before the shim: it is told who served a
// call, and knows where the program made it.
void follow_recorder() {
  const auto served = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "sibyl_profile_served"));
  const auto place =
      reinterpret_cast<const void* (*)()>(dlsym(RTLD_DEFAULT, "sibyl_profile_place"));
  if (served != nullptr) sibyl::on_served = served;
  if (place != nullptr) called_from = place;
}

}  // namespace

const void* (*called_from)() = []() -> const void* { return nullptr; };

int raise_count(MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

#if SIBYL_PRELOAD_FORTRAN
// MPICH's own bindings translate (fortran.txt).
void* fortran_buffer(void* address) {
  if constexpr (!SIBYL_PRELOAD_OPENMPI) return address;
#if SIBYL_PRELOAD_OPENMPI
  know_constants_of(called_from());
#endif
  if (in_place.is(address)) return MPI_IN_PLACE;
  if (bottom.is(address)) return MPI_BOTTOM;
  return address;
}
#endif

}  // namespace sibyl::preload

extern "C" {

__attribute__((visibility("default"))) const char* sibyl_preload_identity() {
  if (SIBYL_STANDARD_ABI) return SIBYL_PRELOAD_IDENTITY("abi 1");
  return SIBYL_PRELOAD_OPENMPI ? SIBYL_PRELOAD_IDENTITY("openmpi 40")
                               : SIBYL_PRELOAD_IDENTITY("mpich 12");
}

// Called once, before the first lookup, with what stays valid from then on. Returns null, or what
// is wrong with the environment: then the wrappers are called all the same, so that the ranks agree
// to leave the calls to the MPI library. That is before MPI_Init, as a rule, where MPI may be asked
// for nothing but its version.
__attribute__((visibility("default"))) const char* sibyl_preload_attach(
    const sibyl_preload_services* services) {
  using namespace sibyl::preload;
  find_native = services->native;
  called_from = services->place_of_call;
  find_lines_by(*services);
  tell_known_calls_by(*services);
  follow_recorder();
  find_hand_back = services->hand_back;
  for (const std::string_view name : served()) {
    sibyl::hand_back_to(name, find_hand_back(std::string(name).c_str()));
  }
  library_version = read_library_version();
  for_each_object = services->for_each_object;
#if SIBYL_PRELOAD_OPENMPI
  know_constants_of(nullptr);
#endif
  try {
    static const std::string problem = [] {
      const sibyl::Environment environment = sibyl::read_environment(sibyl::process_variable);
      reports = !environment.report.empty();
      serves_none = environment.serve_from == 0U && !reports && environment.record.empty();
      sibyl::Settings settings;
      return sibyl::settings_from(environment, settings);
    }();
    return problem.empty() ? nullptr : problem.c_str();
  } catch (const std::exception&) {  // no memory: a program does not end for its settings
    return "the environment could not be read";
  }
}

// The same for the component of Open MPI (openmpi_component/): it is called by the MPI library,
// which has looked at the arguments and raises what is returned, and hands calls back to the
// components below.
__attribute__((visibility("default"))) const char* sibyl_preload_attach_component(
    const sibyl_preload_services* services) {
  sibyl::library_raises = true;
  sibyl::library_asks_what_is_private = true;
#if SIBYL_PRELOAD_OPENMPI
  static int (*asked)(const void*) = services->is_librarys_type;
  sibyl::is_librarys_type = [](MPI_Datatype datatype) { return asked(datatype) != 0; };
#endif
  return sibyl_preload_attach(services);
}

// Whether a communicator that has this group and is being made is a private one, which is not to be
// served.
__attribute__((visibility("default"))) int sibyl_preload_makes_private(MPI_Group group) {
  return sibyl::is_made_private(group) ? 1 : 0;
}

// A communicator has been made, and the program does not have it yet.
__attribute__((visibility("default"))) void sibyl_preload_new_communicator(MPI_Comm comm) {
  const sibyl::preload::Entry entry;
  sibyl::CommunicatorState::begin_early(comm);
}

// What follows MPI_Init, at a call on the world that all of its ranks make.
__attribute__((visibility("default"))) void sibyl_preload_begin_world() {
  const sibyl::preload::Entry entry;
  if (sibyl::preload::whole_world_may_be_served()) sibyl::hooks::after_init();
}

// The wrapper of an intercepted symbol; null where the native function is to be called.
__attribute__((visibility("default"))) void* sibyl_preload_lookup(const char* symbol) {
  using namespace sibyl::preload;
  for (const Wrapper& wrapper : wrappers()) {
    if (std::string_view(wrapper.symbol) == symbol && library_version >= wrapper.first_version &&
        library_version <= wrapper.last_version) {
      if (wrapper.native == nullptr) return serves_none ? nullptr : wrapper.function;
      if (wrapper.counted && !reports) return nullptr;
      void* const native = wrapper.below_tools ? find_native(("P" + std::string(symbol)).c_str())
                                               : find_hand_back(symbol);
      wrapper.native->store(native, std::memory_order_relaxed);
      return native == nullptr ? nullptr : wrapper.function;
    }
  }
  return nullptr;
}

}  // extern "C"
