// Requests and turns of the iterative model; see pat.hpp.
#include "collectives/pat/pat.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "collectives/call.hpp"

namespace sibyl {
namespace {

constexpr std::size_t most_requests = 8;  // on a communicator

// Attributes of MPI_COMM_SELF and of the communicators that are used. They mean the same to all
// ranks of a process, where several share one.
std::mutex keys_mutex;
int pat_key = MPI_KEYVAL_INVALID;
int requests_key = MPI_KEYVAL_INVALID;

int refuse(int error_class) { return raise_nowhere(error_class); }

MPI_Info info_of(const PatFunction& function) {
  MPI_Info info = MPI_INFO_NULL;
  if (PMPI_Info_create(&info) != MPI_SUCCESS) return MPI_INFO_NULL;
  PMPI_Info_set(info, "sibyl_algorithm", function.algorithm);
  PMPI_Info_set(info, "sibyl_order", function.by_arrival ? "arrival" : "rank");
  PMPI_Info_set(info, "sibyl_background", function.background ? "true" : "false");
  return info;
}

}  // namespace

PatRequest::~PatRequest() {
  if (request_ != SIBYL_REQUEST_NULL) SIBYL_Request_free(&request_);
}

int PatRequest::bind(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  int bytes = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Type_size(terms_.type, &bytes);
  const bool combining = combines(terms_.function->collective);
  const bool is_root = rank == terms_.root;
  const std::size_t block =
      static_cast<std::size_t>(bytes) * static_cast<std::size_t>(terms_.count);
  const std::size_t whole = combining ? block : block * static_cast<std::size_t>(size);
  int count = terms_.count;
  try {
    // One more, so that a block of nothing has an address.
    if (combining || !is_root) own_ = std::make_unique<char[]>(block + 1);
    if (is_root) all_ = std::make_unique<char[]>(whole + 1);
  } catch (const std::bad_alloc&) {
    count = -1;  // which is refused on all ranks
  }
  MPI_Info info = info_of(*terms_.function);
  int error = MPI_SUCCESS;
  switch (terms_.function->collective) {
    case Collective::gather:
      error = SIBYL_Gather_init(is_root && count >= 0 ? MPI_IN_PLACE : own(), count, MPI_BYTE,
                                all(), count, MPI_BYTE, terms_.root, comm, info, &request_);
      break;
    case Collective::scatter:
      error =
          SIBYL_Scatter_init(all(), count, MPI_BYTE, is_root && count >= 0 ? MPI_IN_PLACE : own(),
                             count, MPI_BYTE, terms_.root, comm, info, &request_);
      break;
    default:
      error = SIBYL_Reduce_init(own(), all(), count, terms_.type, terms_.op, terms_.root, comm,
                                info, &request_);
  }
  if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
  return error != MPI_SUCCESS && count < 0 ? MPI_ERR_NO_MEM : error;
}

int PatRequest::start() {
  if (started_) return MPI_SUCCESS;
  const int error = SIBYL_Start(&request_);
  started_ = error == MPI_SUCCESS;
  return error;
}

int PatRequest::wait() {
  const int error = SIBYL_Wait(&request_);
  started_ = false;
  return error;
}

Pat* Pat::get() {
  void* value = nullptr;
  int found = 0;
  const std::lock_guard<std::mutex> lock(keys_mutex);
  if (pat_key == MPI_KEYVAL_INVALID ||
      PMPI_Comm_get_attr(MPI_COMM_SELF, pat_key, &value, &found) != MPI_SUCCESS) {
    return nullptr;
  }
  return found != 0 ? static_cast<Pat*>(value) : nullptr;
}

int Pat::init() try {
  if (get() != nullptr) return refuse(MPI_ERR_OTHER);
  int error = MPI_SUCCESS;
  {
    const std::lock_guard<std::mutex> lock(keys_mutex);
    if (pat_key == MPI_KEYVAL_INVALID) {
      error = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &pat_key,
                                      nullptr);
    }
    if (error == MPI_SUCCESS && requests_key == MPI_KEYVAL_INVALID) {
      error =
          PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Pat::on_delete, &requests_key, nullptr);
    }
  }
  if (error != MPI_SUCCESS) return refuse(MPI_ERR_INTERN);
  // Without PAT_Finalize it stays: what is under way may write to its memory.
  Pat* pat = new Pat;
  if (PMPI_Comm_set_attr(MPI_COMM_SELF, pat_key, pat) == MPI_SUCCESS) return MPI_SUCCESS;
  delete pat;
  return refuse(MPI_ERR_INTERN);
} catch (const std::bad_alloc&) {
  return refuse(MPI_ERR_NO_MEM);
}

int Pat::finalize() {
  const std::unique_ptr<Pat> pat(get());
  if (pat == nullptr) return refuse(MPI_ERR_OTHER);
  Requests left;
  for (auto& [place, requests] : pat->all_) left.splice(left.end(), *requests);
  const int error = pat->give_up(left);
  const std::vector<MPI_Comm> comms = std::move(pat->comms_);
  for (const MPI_Comm comm : comms) PMPI_Comm_delete_attr(comm, requests_key);
  PMPI_Comm_delete_attr(MPI_COMM_SELF, pat_key);
  return error;
}

// A communicator is freed. Its requests live on: other ranks may have started them.
int Pat::on_delete(MPI_Comm comm, int, void* value, void*) {
  Pat* pat = get();
  if (pat == nullptr) return MPI_SUCCESS;
  std::erase(pat->comms_, comm);
  pat->forget(*static_cast<Requests*>(value));
  return MPI_SUCCESS;
}

void Pat::forget(const Requests& requests) {
  for (const auto& request : requests) {
    std::erase_if(last_, [&](const auto& entry) { return entry.second == request.get(); });
    if (current_ == request.get()) current_ = nullptr;
  }
}

// All ranks give up the same ones; some may have started some of them. Any order will do.
int Pat::give_up(Requests& requests) {
  forget(requests);
  int first = MPI_SUCCESS;
  const auto each = [&](auto act) {
    for (const auto& request : requests) {
      const int error = act(*request);
      if (first == MPI_SUCCESS) first = error;
    }
  };
  each([](PatRequest& request) { return request.start(); });
  each([](PatRequest& request) { return request.arrive(); });
  each([](PatRequest& request) { return request.wait(); });
  requests.clear();
  return first;
}

int Pat::use(const PatFunction* function) {
  if (function == nullptr) return refuse(MPI_ERR_ARG);
  in_use_ = function;
  return MPI_SUCCESS;
}

int Pat::processing_start() {
  if (processing_) return refuse(MPI_ERR_OTHER);
  processing_ = true;
  edge_reported_ = false;
  current_ = nullptr;
  const auto known = last_.find(in_use_);
  if (known == last_.end() || known->second->started()) return MPI_SUCCESS;
  current_ = known->second;
  return current_->start();
}

int Pat::edge(double fraction) {
  if (!processing_ || edge_reported_) return refuse(MPI_ERR_OTHER);
  if (!(fraction > 0 && fraction < 1)) return refuse(MPI_ERR_ARG);
  edge_reported_ = true;
  return current_ == nullptr ? MPI_SUCCESS : current_->edge(fraction);
}

int Pat::processing_end() {
  if (!processing_) return refuse(MPI_ERR_OTHER);
  processing_ = false;
  return MPI_SUCCESS;
}

int Pat::requests_of(MPI_Comm comm, Requests** requests) {
  void* value = nullptr;
  int found = 0;
  const int error = PMPI_Comm_get_attr(comm, requests_key, &value, &found);
  if (error != MPI_SUCCESS || found != 0) {
    *requests = static_cast<Requests*>(value);
    return error;
  }
  auto made = std::make_unique<Requests>();
  comms_.reserve(comms_.size() + 1);
  Requests* place = made.get();
  all_.emplace(place, std::move(made));
  comms_.push_back(comm);
  *requests = place;
  return PMPI_Comm_set_attr(comm, requests_key, place);
}

int Pat::take(const PatTerms& terms, MPI_Comm comm, PatRequest** request) {
  Requests* requests = nullptr;
  if (requests_of(comm, &requests) != MPI_SUCCESS) return raise(comm, MPI_ERR_INTERN);
  auto place = std::ranges::find_if(*requests, [&](const auto& r) { return r->terms() == terms; });
  if (place == requests->end()) {
    auto made = std::make_unique<PatRequest>(terms);
    if (const int error = made->bind(comm); error != MPI_SUCCESS) return error;
    requests->push_front(std::move(made));
    if (requests->size() > most_requests) {
      Requests oldest;
      oldest.splice(oldest.end(), *requests, std::prev(requests->end()));
      if (const int error = give_up(oldest); error != MPI_SUCCESS) return error;
    }
  } else {
    requests->splice(requests->begin(), *requests, place);
  }
  *request = requests->front().get();
  last_[terms.function] = *request;
  return (*request)->start();
}

}  // namespace sibyl
