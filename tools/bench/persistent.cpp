// Requests that hear of the emulated computation; see persistent.hpp.
#include "bench/persistent.hpp"

#include <array>
#include <string>
#include <utility>

#include "at_a_time.hpp"
#include "bench/clock.hpp"
#include "collectives/persistent/request.hpp"
#include "pretended_edge.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::bench {
namespace {

constexpr PersistentForm chosen{"persistent", "auto"};
constexpr PersistentForm governed{
    .name = "persistent-governed", .algorithm = "auto", .governed = true};
constexpr std::string_view edges_prefix = "edges:";

constexpr std::array<PersistentForm, 10> gather_forms{{
    {"LIN", "linear", false, false, 1},
    {"BLIN", "linear", false, true, 0},
    {"LS", "linear-synchronised", false, false, 1},
    {"SLS", "linear-synchronised", true, false, 1},
    {"BSLS", "linear-synchronised", true, true, 1},
    {"BNOM", "binomial", false, false},
    {"SBN", "binomial", true, false},
    {"BSBN", "binomial", true, true},
    chosen,
    governed,
}};

constexpr std::array<PersistentForm, 7> scatter_forms{{
    {"LIN", "linear", false, false, 1},
    {"SLIN", "linear", true, false, 1},
    {"BSLIN", "linear", true, true, 1},
    {"BNOM", "binomial", false, false},
    {"SBN", "binomial", true, false},
    {"BSBN", "binomial", true, true},
    chosen,
}};

constexpr std::array<PersistentForm, 1> other_forms{chosen};

// none:NAME and shuffled:NAME, the controls of a form; what they are told, and NAME.
std::pair<Prediction, std::string_view> control_of(std::string_view name) {
  for (const auto& [prefix, told] : {std::pair{std::string_view("none:"), Prediction::flat},
                                     {std::string_view("shuffled:"), Prediction::shuffled}}) {
    if (name.starts_with(prefix)) return {told, name.substr(prefix.size())};
  }
  return {Prediction::right, name};
}

MPI_Info info_of(const PersistentForm& form) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sibyl_algorithm", std::string(form.algorithm).c_str());
  MPI_Info_set(info, "sibyl_order", form.by_arrival ? "arrival" : "rank");
  MPI_Info_set(info, "sibyl_background", form.background ? "true" : "false");
  MPI_Info_set(info, "sibyl_govern", form.governed ? "true" : "false");
  if (form.outstanding) {
    MPI_Info_set(info, "sibyl_outstanding", std::to_string(*form.outstanding).c_str());
  }
  return info;
}

int bind(Data& data, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  const void* send = data.send.data();
  void* receive = data.receive.data();
  const int* counts = data.sent.counts.data();
  const int* places = data.sent.displacements.data();
  const int count = data.count;
  const int root = data.problem.root;
  MPI_Datatype type = data.op.type();
  MPI_Op op = data.op.op();
  switch (data.problem.operation) {
    case Operation::gather:
      return SIBYL_Gather_init(send, count, type, receive, count, type, root, comm, info, request);
    case Operation::scatter:
      return SIBYL_Scatter_init(send, count, type, receive, count, type, root, comm, info, request);
    case Operation::gatherv:
      return SIBYL_Gatherv_init(send, count, type, receive, counts, places, type, root, comm, info,
                                request);
    case Operation::scatterv:
      return SIBYL_Scatterv_init(send, counts, places, type, receive, count, type, root, comm, info,
                                 request);
    case Operation::reduce:
      return SIBYL_Reduce_init(send, receive, count, type, op, root, comm, info, request);
    case Operation::exscan:
      return SIBYL_Exscan_init(send, receive, count, type, op, comm, info, request);
    case Operation::allreduce:
      return SIBYL_Allreduce_init(send, receive, count, type, op, comm, info, request);
    case Operation::bcast:
      return SIBYL_Bcast_init(data.is_root() ? data.send.data() : receive, count, type, root, comm,
                              info, request);
    case Operation::allgather:
      return SIBYL_Allgather_init(send, count, type, receive, count, type, comm, info, request);
    case Operation::allgatherv:
      return SIBYL_Allgatherv_init(send, count, type, receive, counts, places, type, comm, info,
                                   request);
    case Operation::alltoall:
      return SIBYL_Alltoall_init(send, count, type, receive, count, type, comm, info, request);
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace

std::span<const PersistentForm> persistent_forms(Operation operation) {
  switch (operation) {
    case Operation::gather:
      return gather_forms;
    case Operation::scatter:
      return scatter_forms;
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::reduce:
    case Operation::exscan:
    case Operation::allreduce:
    case Operation::bcast:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
      return other_forms;
    default:
      return {};
  }
}

std::optional<PersistentForm> find_persistent_form(Operation operation, std::string_view name) {
  const std::span<const PersistentForm> forms = persistent_forms(operation);
  const auto [told, rest] = control_of(name);
  const std::optional<AtATime> asked = read_at_a_time(rest);
  for (PersistentForm form : forms) {
    if (form.name != (asked ? asked->name : rest)) continue;
    if (told != Prediction::right && !form.by_arrival) return {};
    if (asked && asked->transfers != 1 && asks_one_at_a_time(form.algorithm, form.by_arrival)) {
      return {};
    }
    form.name = name;
    form.told = told;
    if (asked) form.outstanding = asked->transfers;
    return form;
  }
  if (forms.empty() || !name.starts_with(edges_prefix)) return {};
  const std::string_view algorithm = name.substr(edges_prefix.size());
  if (find_algorithm(gives(operation), algorithm) == nullptr) return {};
  return PersistentForm{name, algorithm};
}

BoundCall::BoundCall(const PersistentForm& form, Data& data, MPI_Comm comm)
    : predicts_(form.by_arrival), told_(form.told) {
  MPI_Info info = info_of(form);
  error_ = bind(data, comm, info, &request_);
  MPI_Info_free(&info);
}

BoundCall::~BoundCall() {
  if (request_ != SIBYL_REQUEST_NULL) SIBYL_Request_free(&request_);
}

void BoundCall::started() {
  started_ = true;
  began_ = now();
  note(SIBYL_Start(&request_));
}

void BoundCall::reached(double fraction) {
  if (told_ != Prediction::right) fraction = pretended_fraction(now() - began_, pretended_);
  note(SIBYL_Edge(&request_, fraction));
}

double BoundCall::prediction_error() const {
  if (!predicts_ || request_ == SIBYL_REQUEST_NULL) return -1;
  return reinterpret_cast<const PersistentRequest*>(request_)->last_prediction_error();
}

int BoundCall::call() {
  if (!started_) started();
  note(SIBYL_Arrive(&request_));
  note(SIBYL_Wait(&request_));
  started_ = false;
  const int error = error_;
  error_ = MPI_SUCCESS;
  return error;
}

}  // namespace sibyl::bench
