// Control variables through MPI_T; see native_variants.hpp.
#include "bench/native_variants.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace sibyl::bench {
namespace {

constexpr bool is_openmpi = std::string_view(SIBYL_FLAVOUR) == "openmpi";

std::string variable_of(Operation operation) {
  std::string name(name_of(operation));
  if (is_openmpi) return "coll_tuned_" + name + "_algorithm";
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "MPIR_CVAR_" + name + "_INTRA_ALGORITHM";
}

// A component of Open MPI's. It serves the operations for which it has such a variable.
struct Component {
  const char* name;
  const char* priority;  // a variable of the environment
  std::string_view variable_begin;
  std::string_view variable_end;
  bool wants_several_hosts;  // and steps aside on one
};
constexpr std::array<Component, 2> components{
    {{"han", "OMPI_MCA_coll_han_priority", "coll_han_", "_dynamic_global_communicator_module",
      true},
     {"adapt", "OMPI_MCA_coll_adapt_priority", "coll_adapt_", "_algorithm", false}}};

bool on_several_hosts() {
  static const bool several = [] {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int all = 0;
    int near = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_size(host, &near);
    MPI_Comm_free(&host);
    return near < all;
  }();
  return several;
}

std::vector<NativeVariant> from_enumeration(MPI_T_enum enumeration) {
  std::vector<NativeVariant> variants;
  int count = 0;
  std::array<char, 256> name{};
  auto size = static_cast<int>(name.size());
  if (MPI_T_enum_get_info(enumeration, &count, name.data(), &size) != MPI_SUCCESS) return variants;
  for (int i = 0; i < count; ++i) {
    NativeVariant variant;
    size = static_cast<int>(name.size());
    if (MPI_T_enum_get_item(enumeration, i, &variant.value, name.data(), &size) != MPI_SUCCESS) {
      continue;
    }
    variant.name = name.data();
    if (variant.name != "ignore") variants.push_back(variant);
  }
  return variants;
}

// MPICH numbers the values in the order in which the description explains them, "auto" first:
// "...auto - Internal ...)binomial   - Force binomial algorithmnb    - Force nonblocking
// algorithm", the ends of the lines left out before MPICH 5.
std::vector<NativeVariant> from_description(const std::string& description) {
  constexpr std::string_view explained = " - Force";
  constexpr std::array<std::string_view, 4> line_ends{"algorithm", "Tree", "Allgather", "Ring"};
  std::vector<NativeVariant> variants;
  int value = 0;
  for (std::size_t at = description.find(explained); at != std::string::npos;
       at = description.find(explained, at + 1)) {
    const std::size_t last = description.find_last_not_of(' ', at);
    std::size_t first = last;
    while (first > 0 && (std::isalnum(static_cast<unsigned char>(description[first - 1])) != 0 ||
                         description[first - 1] == '_')) {
      --first;
    }
    std::string name = description.substr(first, last + 1 - first);
    for (const std::string_view line_end : line_ends) {
      if (name.starts_with(line_end)) name.erase(0, line_end.size());
    }
    variants.push_back({name, ++value});
  }
  return variants;
}

}  // namespace

// A control variable of one whole number, open for as long as the object lives.
struct NativeChoice::Variable {
  explicit Variable(const std::string& wanted) {
    // Open MPI 4.1 says from then on that MPI too has only the level that is asked for here.
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    int provided = 0;
    // Never finalised: MPICH does not come back from that.
    if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return;
    int count = 0;
    MPI_T_cvar_get_num(&count);
    std::array<char, 256> name{};
    std::array<char, 8192> text{};
    for (int i = 0; i < count && handle_ == MPI_T_CVAR_HANDLE_NULL; ++i) {
      auto name_size = static_cast<int>(name.size());
      auto text_size = static_cast<int>(text.size());
      int verbosity = 0;
      int binding = 0;
      int scope = 0;
      MPI_Datatype type = MPI_DATATYPE_NULL;
      if (MPI_T_cvar_get_info(i, name.data(), &name_size, &verbosity, &type, &enumeration_,
                              text.data(), &text_size, &binding, &scope) != MPI_SUCCESS ||
          type != MPI_INT || wanted != name.data()) {
        continue;
      }
      description_ = text.data();
      int elements = 0;
      if (MPI_T_cvar_handle_alloc(i, nullptr, &handle_, &elements) != MPI_SUCCESS) {
        handle_ = MPI_T_CVAR_HANDLE_NULL;
      }
    }
  }
  ~Variable() {
    if (handle_ != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(&handle_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  bool found() const { return handle_ != MPI_T_CVAR_HANDLE_NULL; }
  MPI_T_enum enumeration() const { return enumeration_; }
  const std::string& description() const { return description_; }
  int read() const {
    int value = 0;
    if (found()) MPI_T_cvar_read(handle_, &value);
    return value;
  }
  void write(int value) const {
    if (found()) MPI_T_cvar_write(handle_, &value);
  }

  int before = 0;

 private:
  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_enum enumeration_ = MPI_T_ENUM_NULL;
  std::string description_;
};

void allow_native_variants() {
  if (!is_openmpi) return;
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
  // The least that keeps them; without a preference every other component comes before them.
  for (const Component& component : components) setenv(component.priority, "1", 0);
}

NativeChoice::NativeChoice(Operation operation)
    : operation_(operation),
      variable_(std::make_unique<Variable>(variable_of(operation))),
      segment_(std::make_unique<Variable>(is_openmpi ? variable_of(operation) + "_segmentsize"
                                                     : std::string())) {
  variable_->before = variable_->read();
  segment_->before = segment_->read();
}

NativeChoice::~NativeChoice() = default;

std::vector<NativeVariant> NativeChoice::variants() const {
  std::vector<NativeVariant> found;
  if (variable_->found()) {
    found = is_openmpi ? from_enumeration(variable_->enumeration())
                       : from_description(variable_->description());
  }
  for (const Component& component : components) {
    if (!is_openmpi || (component.wants_several_hosts && !on_several_hosts())) continue;
    std::string variable(component.variable_begin);
    variable.append(name_of(operation_)).append(component.variable_end);
    if (Variable(variable).found()) {
      found.push_back({.name = component.name, .is_component = true});
    }
  }
  return found;
}

bool NativeChoice::cuts_segments() const { return segment_->found(); }

void NativeChoice::set(const NativeVariant& variant) {
  if (variant.is_component) return;  // the communicator has it
  variable_->write(variant.value);
  segment_->write(variant.segment_bytes > 0 ? variant.segment_bytes : segment_->before);
}

void NativeChoice::reset() {
  variable_->write(variable_->before);
  segment_->write(segment_->before);
}

MPI_Comm NativeChoice::duplicate_world(const NativeVariant& variant) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (variant.is_component) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", variant.name.c_str());
  }
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return copy;
}

bool NativeChoice::is_read_per_call() { return !is_openmpi; }

}  // namespace sibyl::bench
