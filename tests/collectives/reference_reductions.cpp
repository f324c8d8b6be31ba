// Random reduces and scans beside the serial reference; see reference_cases.hpp.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "collectives/reference_sides.hpp"

namespace sibyl::reference {
namespace {

// What the vectors of a case consist of.
struct Elements {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Layout layout;
  std::optional<Type> made;
};

Elements elements_of(const ReductionCase& now, const Limits& limits) {
  Elements elements;
  if (now.operand != nullptr) {
    elements.type = now.operand->type;
    elements.layout = now.operand->layout;
    return elements;
  }
  Random random(now.seed + 5);
  elements.made = make_type(now.signature, Overlap::forbidden, limits.types, random);
  elements.type = elements.made->handle();
  elements.layout = layout_of(elements.made->map());
  return elements;
}

// The vector that a rank puts in, packed.
Bytes input_of(const ReductionCase& now, int rank, std::size_t element_bytes) {
  Random random(now.seed + 1000003 * static_cast<std::uint64_t>(rank + 1));
  Bytes all(static_cast<std::size_t>(now.count) * element_bytes);
  for (std::size_t at = 0; at < all.size(); at += element_bytes) {
    if (now.operand != nullptr) {
      now.operand->draw(now.op, random, &all[at]);
    } else {
      draw_for_user(now.op, now.signature, random, &all[at]);
    }
  }
  return all;
}

// The vectors of ranks [0, end) combined in rank order; at least one.
Bytes combined(const ReductionCase& now, int end, std::size_t element_bytes) {
  Bytes sum = input_of(now, 0, element_bytes);
  for (int rank = 1; rank < end; ++rank) {
    Bytes next = input_of(now, rank, element_bytes);
    for (std::size_t at = 0; at < sum.size(); at += element_bytes) {
      if (now.operand != nullptr) {
        now.operand->combine(now.op, &sum[at], &next[at]);
      } else {
        combine_by_user(now.op, now.signature, &sum[at], &next[at]);
      }
    }
    sum.swap(next);
  }
  return sum;
}

void clean(const ReductionCase& now, const Region& region, Buffer& buffer) {
  if (now.operand == nullptr) return;
  Bytes packed = buffer.take(region.first, region.count);
  for (std::size_t at = 0; at < packed.size(); at += now.operand->layout.packed) {
    now.operand->clean(&packed[at]);
  }
  buffer.put(region, packed);
}

int invoke(const ReductionCase& now, const Library& library, const void* send, void* receive,
           MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  switch (now.call) {
    case Call::reduce:
      return library.reduce(send, receive, now.count, type, op, now.root, comm);
    case Call::scan:
      return library.scan(send, receive, now.count, type, op, comm);
    case Call::exscan:
      return library.exscan(send, receive, now.count, type, op, comm);
    case Call::allreduce:
      return library.allreduce(send, receive, now.count, type, op, comm);
    case Call::reduce_scatter:
      return library.reduce_scatter(send, receive, now.counts.data(), type, op, comm);
    default:
      return library.reduce_scatter_block(send, receive, now.counts.front(), type, op, comm);
  }
}

bool scatters_sums(Call call) {
  return call == Call::reduce_scatter || call == Call::reduce_scatter_block;
}

// How many ranks' vectors a rank gets the sum of.
int operands_of(const ReductionCase& now, int rank) {
  switch (now.call) {
    case Call::reduce:
      return rank == now.root ? now.ranks : 0;
    case Call::scan:
      return rank + 1;
    case Call::exscan:
      return rank;
    default:
      return now.ranks;
  }
}

// Blocks of the vector: equal ones, or of any sizes, some of them empty.
void draw_counts(ReductionCase& now, Random& random) {
  const auto ranks = static_cast<std::size_t>(now.ranks);
  if (now.call == Call::reduce_scatter_block) {
    now.counts.assign(ranks, now.count / now.ranks);
  } else {
    std::vector<int> cuts{0, now.count};
    const bool sparse = one_in(random, 4);
    for (std::size_t i = 1; i < ranks; ++i) {
      cuts.push_back(
          sparse && one_in(random, 2)
              ? 0
              : static_cast<int>(pick(random, static_cast<std::uint64_t>(now.count) + 1)));
    }
    std::ranges::sort(cuts);
    for (std::size_t i = 0; i < ranks; ++i) now.counts.push_back(cuts[i + 1] - cuts[i]);
    std::shuffle(now.counts.begin(), now.counts.end(), random);
  }
  now.count = std::accumulate(now.counts.begin(), now.counts.end(), 0);
}

bool has_gaps(const OperandType& type) {
  return type.layout.extent != static_cast<std::ptrdiff_t>(type.layout.packed);
}

}  // namespace

ReductionCase draw_reduction_case(Call call, int ranks, std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  ReductionCase now;
  now.call = call;
  now.ranks = ranks;
  now.seed = seed;
  now.root = static_cast<int>(between(random, 0, ranks - 1));
  std::size_t element = 0;
  const bool derived_sums = call == Call::reduce
                                ? limits.derived_sums_at_root
                                : call < Call::allreduce || limits.derived_sums_for_all;
  if (one_in(random, 2) || !derived_sums) {
    const auto& types = operand_types();
    do {
      now.operand = &types[pick(random, types.size())];
    } while (!limits.gaps_of_pairs && has_gaps(*now.operand));
    now.op = now.operand->operators[pick(random, now.operand->operators.size())];
    element = now.operand->layout.packed;
  } else if (one_in(random, 2) && (limits.products_scattered || !scatters_sums(call))) {
    now.op = Operator::user_product;
    now.signature = signature_of_matrices(static_cast<int>(between(random, 1, 4)), random);
  } else {
    now.op = Operator::user_sum;
    const auto basics = between(random, 1, 6);
    for (std::ptrdiff_t i = 0; i < basics; ++i) {
      now.signature.push_back(static_cast<Basic>(pick(random, limits.basics)));
    }
    if (one_in(random, 3)) now.signature.assign(1 + pick(random, 12), now.signature.front());
    if (one_in(random, 30)) now.signature.clear();
  }
  if (now.operand == nullptr) element = static_cast<std::size_t>(bytes_of(now.signature));
  const bool mixed = now.operand == nullptr && is_mixed(now.signature);
  const std::size_t largest =
      mixed ? std::min(limits.largest, limits.largest_mixed) : limits.largest;
  const std::size_t wanted = draw_bytes(random, largest);
  now.count = element == 0
                  ? static_cast<int>(pick(random, 4))
                  : static_cast<int>(std::min(wanted + one_in(random, 2) * (element - 1), largest) /
                                     element);
  if (scatters_sums(call)) draw_counts(now, random);
  // None, all, or each as it likes.
  const std::uint64_t places =
      pick(random, call < Call::allreduce || limits.in_place_at_some ? 4 : 3);
  for (int rank = 0; rank < ranks; ++rank) {
    now.in_place.push_back(places == 2 || (places == 3 && one_in(random, 2)));
  }
  if (call == Call::reduce) {
    const bool can = limits.in_place_at_any_root || now.root == 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      now.in_place[r] = now.in_place[r] && can && rank == now.root;
    }
  }
  now.garbage = limits.garbage_where_not_significant && !one_in(random, 4);
  return now;
}

std::string describe(const ReductionCase& now, const Limits& limits) {
  const Elements elements = elements_of(now, limits);
  std::string text =
      std::string(name_of(now.call)) + " of " + std::to_string(now.ranks) + " ranks" +
      (now.call == Call::reduce ? ", root " + std::to_string(now.root) : "") + ", " +
      name_of(now.op) + " of " + std::to_string(now.count) + " " +
      (now.operand != nullptr ? now.operand->name : elements.made->text()) + ", extent " +
      std::to_string(elements.layout.extent) + ", " +
      std::to_string(static_cast<std::size_t>(now.count) * elements.layout.packed) + " bytes" +
      (now.garbage ? ", garbage where not significant" : "") + "\n  in place at ranks";
  for (std::size_t rank = 0; rank < now.in_place.size(); ++rank) {
    if (now.in_place[rank]) text += " " + std::to_string(rank);
  }
  if (scatters_sums(now.call)) text += "\n  in blocks of";
  for (const int count : now.counts) text += " " + std::to_string(count);
  return text + "\n";
}

std::string run(const ReductionCase& now, const Limits& limits, const Library& library,
                MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool in_place = now.in_place[static_cast<std::size_t>(rank)];
  const Elements elements = elements_of(now, limits);
  std::unique_ptr<UserOperator> user;
  if (now.operand == nullptr) {
    user = std::make_unique<UserOperator>(now.op, now.signature, *elements.made);
  }
  const Region vector{"vector", 0, now.count};
  // What this rank gets: in place at the begin of the vector.
  const std::vector<int>& counts = now.counts;
  const Region result{"result", 0,
                      counts.empty() ? now.count : counts[static_cast<std::size_t>(rank)]};
  const int first = counts.empty() ? 0 : std::accumulate(counts.begin(), counts.begin() + rank, 0);
  const std::size_t bytes = elements.layout.packed;
  const Bytes input = input_of(now, rank, bytes);
  Buffer send(elements.layout, {vector}, now.seed + 10 + static_cast<std::uint64_t>(rank));
  Buffer receive(elements.layout, {in_place ? vector : result},
                 now.seed + 50 + static_cast<std::uint64_t>(rank));
  send.put(vector, input);
  if (in_place) receive.put(vector, input);
  const Buffer sent = send;
  Buffer expected = receive;
  const int operands = operands_of(now, rank);
  if (operands > 0) {
    const Bytes sum = combined(now, operands, bytes);
    expected.put(result.first, result.count, sum.data() + static_cast<std::size_t>(first) * bytes);
  }
  void* to = receive.base();
  if (operands == 0 && !in_place && now.garbage) to = wild();
  if (result.count == 0 && !in_place && now.garbage) to = nullptr;
  std::string wrong =
      text_of_error(invoke(now, library, in_place ? MPI_IN_PLACE : send.base(), to, elements.type,
                           user != nullptr ? user->handle() : handle_of(now.op), comm));
  const std::string send_difference = send.difference(sent);
  if (!send_difference.empty()) wrong += "send buffer: " + send_difference;
  if (operands > 0) {
    clean(now, result, receive);
    clean(now, result, expected);
  }
  // What becomes of the rest of the vector is not said.
  if (in_place && !counts.empty()) {
    const Region rest{"rest", result.count, vector.count - result.count};
    expected.put(rest, receive.take(rest.first, rest.count));
  }
  return wrong + compared("receive buffer", receive, expected);
}

}  // namespace sibyl::reference
