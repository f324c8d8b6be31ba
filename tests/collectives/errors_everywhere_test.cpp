// Wrong arguments of collectives without a root, and of bcast: the right class, raised once through
// the communicator's own error handler, no hang, nothing written.
#include "collectives/errors.hpp"

namespace sibyl::test {
namespace {

TEST_F(Errors, SumsForAllRanksRefuseWrongArguments) {
  const void* from = send_.data();
  void* to = receive_.data();
  const std::vector<int> ones(static_cast<std::size_t>(size_of()), 1);
  // Of a vector of one element a rank, or of a wrong number.
  const auto each = [&](const void* send, void* receive, bool right, MPI_Datatype type, MPI_Op op,
                        int wanted, const char* what) {
    const int elements = right ? 1 : -1;
    std::vector<int> counts = ones;
    counts.back() = elements;
    const std::string name(what);
    expect_error(wanted, (name + ", allreduce").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Allreduce(send, receive, elements, type, op, comm);
    });
    expect_error(wanted, (name + ", reduce_scatter").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Reduce_scatter(send, receive, counts.data(), type, op, comm);
    });
    expect_error(wanted, (name + ", reduce_scatter_block").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Reduce_scatter_block(send, receive, elements, type, op, comm);
    });
  };
  each(from, to, false, MPI_INT, MPI_SUM, MPI_ERR_COUNT, "negative count");
  each(from, to, true, MPI_DATATYPE_NULL, MPI_SUM, MPI_ERR_TYPE, "null datatype");
  each(from, to, true, MPI_INT, MPI_OP_NULL, MPI_ERR_OP, "null operator");
  each(from, to, true, MPI_DOUBLE, MPI_BAND, MPI_ERR_OP, "operator not defined for the type");
  each(nullptr, to, true, MPI_INT, MPI_SUM, MPI_ERR_BUFFER, "null send buffer");
  each(from, nullptr, true, MPI_INT, MPI_SUM, MPI_ERR_BUFFER, "null receive buffer");
  each(from, MPI_IN_PLACE, true, MPI_INT, MPI_SUM, MPI_ERR_BUFFER, "in place at the wrong end");
  expect_error(MPI_ERR_ARG, "null counts", [&](MPI_Comm comm) {
    return SIBYL_Reduce_scatter(from, to, nullptr, MPI_INT, MPI_SUM, comm);
  });
}

TEST_F(Errors, BcastRefusesWrongArguments) {
  void* data = receive_.data();
  const auto bcast = [](void* buffer, int elements, MPI_Datatype type, int root) {
    return [=](MPI_Comm comm) { return SIBYL_Bcast(buffer, elements, type, root, comm); };
  };
  expect_error(MPI_ERR_ROOT, "root below 0", bcast(data, 1, MPI_INT, -1));
  expect_error(MPI_ERR_ROOT, "root too large", bcast(data, 1, MPI_INT, size_of()));
  expect_error(MPI_ERR_COUNT, "negative count", bcast(data, -1, MPI_INT, 0));
  expect_error(MPI_ERR_TYPE, "null datatype", bcast(data, 1, MPI_DATATYPE_NULL, 0));
  expect_error(MPI_ERR_BUFFER, "null buffer", bcast(nullptr, 1, MPI_INT, 0));
  expect_error(MPI_ERR_BUFFER, "in place", bcast(MPI_IN_PLACE, 1, MPI_INT, 0));
}

// What may be wrong at one side of an exchange.
struct Given {
  const void* buffer;
  int count = 1;
  MPI_Datatype type = MPI_INT;
  bool counts = true;  // where it has them
  bool places = true;
};

class Exchanges : public Errors {
 protected:
  std::vector<int> ones_ = std::vector<int>(static_cast<std::size_t>(size_of()), 1);
  std::vector<int> places_ = std::vector<int>(static_cast<std::size_t>(size_of()), 0);

  std::vector<int> counts_of(const Given& side) const {
    std::vector<int> counts = ones_;
    counts.back() = side.count;
    return counts;
  }
  void in_equal_blocks(int wanted, const std::string& what, const Given& out, const Given& in) {
    void* const to = const_cast<void*>(in.buffer);
    expect_error(wanted, (what + ", allgather").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Allgather(out.buffer, out.count, out.type, to, in.count, in.type, comm);
    });
    expect_error(wanted, (what + ", alltoall").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Alltoall(out.buffer, out.count, out.type, to, in.count, in.type, comm);
    });
  }
  void in_blocks_of_any_sizes(int wanted, const std::string& what, const Given& out,
                              const Given& in) {
    void* const to = const_cast<void*>(in.buffer);
    const std::vector<int> in_counts = counts_of(in);
    const std::vector<int> out_counts = counts_of(out);
    const int* const taken = in.counts ? in_counts.data() : nullptr;
    const int* const taken_at = in.places ? places_.data() : nullptr;
    if (out.counts && out.places) {  // it has none
      expect_error(wanted, (what + ", allgatherv").c_str(), [&](MPI_Comm comm) {
        return SIBYL_Allgatherv(out.buffer, out.count, out.type, to, taken, taken_at, in.type,
                                comm);
      });
    }
    expect_error(wanted, (what + ", alltoallv").c_str(), [&](MPI_Comm comm) {
      return SIBYL_Alltoallv(out.buffer, out.counts ? out_counts.data() : nullptr,
                             out.places ? places_.data() : nullptr, out.type, to, taken, taken_at,
                             in.type, comm);
    });
  }
  void in_any_blocks(int wanted, const std::string& what, const Given& out, const Given& in) {
    in_equal_blocks(wanted, what, out, in);
    in_blocks_of_any_sizes(wanted, what, out, in);
  }
};

TEST_F(Exchanges, RefuseWrongArguments) {
  const Given from{send_.data()};
  const Given to{receive_.data()};
  in_any_blocks(MPI_ERR_COUNT, "negative send count", {from.buffer, -1}, to);
  in_any_blocks(MPI_ERR_COUNT, "negative receive count", from, {to.buffer, -1});
  in_any_blocks(MPI_ERR_TYPE, "null send type", {from.buffer, 1, MPI_DATATYPE_NULL}, to);
  in_any_blocks(MPI_ERR_TYPE, "null receive type", from, {to.buffer, 1, MPI_DATATYPE_NULL});
  in_any_blocks(MPI_ERR_BUFFER, "null send buffer", {nullptr}, to);
  in_any_blocks(MPI_ERR_BUFFER, "null receive buffer", from, {nullptr});
  in_any_blocks(MPI_ERR_BUFFER, "in place at the wrong end", from, {MPI_IN_PLACE});
  in_any_blocks(MPI_ERR_COUNT, "negative count in place", {MPI_IN_PLACE}, {to.buffer, -1});
  in_any_blocks(MPI_ERR_TYPE, "null type in place", {MPI_IN_PLACE},
                {to.buffer, 1, MPI_DATATYPE_NULL});
  const Given without_counts{from.buffer, 1, MPI_INT, false, true};
  const Given without_places{from.buffer, 1, MPI_INT, true, false};
  in_blocks_of_any_sizes(MPI_ERR_ARG, "null send counts", without_counts, to);
  in_blocks_of_any_sizes(MPI_ERR_ARG, "null send displacements", without_places, to);
  in_blocks_of_any_sizes(MPI_ERR_ARG, "null counts", from, {to.buffer, 1, MPI_INT, false, true});
  in_blocks_of_any_sizes(MPI_ERR_ARG, "null displacements", from,
                         {to.buffer, 1, MPI_INT, true, false});
}

// Nobody has to have memory for nothing.
TEST_F(Exchanges, TakeNullPointersToNothing) {
  std::vector<const Algorithm*> rows;
  for (const Collective collective :
       {Collective::allreduce, Collective::bcast, Collective::reduce_scatter_block,
        Collective::allgather, Collective::alltoall}) {
    for (const Algorithm& row : algorithms(collective)) rows.push_back(&row);
  }
  for (const Algorithm* row : rows) {
    SCOPED_TRACE(row->name);
    const Served served(row->collective, row);
    const MPI_Comm comm = served.get();
    EXPECT_EQ(SIBYL_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Bcast(nullptr, 0, MPI_INT, 0, comm), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Reduce_scatter_block(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm), MPI_SUCCESS);
  }
}

// One rank alone gets something; the others have nowhere to put it.
TEST_F(Exchanges, TakeNullPointersWhereARankGetsNothing) {
  const int rank = rank_in();
  const bool last = rank == size_of() - 1;
  std::vector<int> counts(ones_.size(), 0);
  counts.back() = 2;
  const std::array<int, 2> mine{rank + 1, 1};
  for (const Algorithm& row : algorithms(Collective::reduce_scatter)) {
    SCOPED_TRACE(row.name);
    Served served(Collective::reduce_scatter, &row);
    std::array<int, 2> sum{-7, -7};
    ASSERT_EQ(SIBYL_Reduce_scatter(mine.data(), last ? sum.data() : nullptr, counts.data(), MPI_INT,
                                   MPI_SUM, served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(served.served_by(), &row);
    if (last) {
      EXPECT_EQ(sum[0], size_of() * (size_of() + 1) / 2);
      EXPECT_EQ(sum[1], size_of());
    }
  }
  // Everybody sends to the last rank.
  for (const Algorithm& row : algorithms(Collective::alltoallv)) {
    SCOPED_TRACE(row.name);
    Served served(Collective::alltoallv, &row);
    const std::vector<int> taken(ones_.size(), last ? 2 : 0);
    std::vector<int> places(ones_.size());
    for (std::size_t r = 0; r < places.size(); ++r) places[r] = 2 * static_cast<int>(r);
    std::vector<int> all(2 * ones_.size(), -7);
    ASSERT_EQ(SIBYL_Alltoallv(mine.data(), counts.data(), places_.data(), MPI_INT,
                              last ? all.data() : nullptr, taken.data(), places.data(), MPI_INT,
                              served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(served.served_by(), &row);
    for (std::size_t r = 0; last && r < ones_.size(); ++r) {
      EXPECT_EQ(all[2 * r], static_cast<int>(r) + 1);
      EXPECT_EQ(all[2 * r + 1], 1);
    }
  }
}

// One array of counts for both directions of one buffer: of two parts of it, or where all blocks
// are empty, whoever serves the call.
TEST_F(Exchanges, OfPartsOfOneBufferAreRight) {
  std::vector<const Algorithm*> rows = rows_and_auto(Collective::alltoallv);
  for (const bool natively : {false, true}) {
    for (const Algorithm* row : rows) {
      if (natively && row != nullptr) continue;
      SCOPED_TRACE(name_or_auto(row) + (natively ? " natively" : ""));
      Served served(Collective::alltoallv, row);
      if (natively) leave_to_library(served, Collective::alltoallv);
      const MPI_Comm comm = served.get();
      const std::vector<int> none(ones_.size(), 0);
      EXPECT_EQ(SIBYL_Alltoallv(nullptr, none.data(), places_.data(), MPI_INT, nullptr, none.data(),
                                places_.data(), MPI_INT, comm),
                MPI_SUCCESS);
      std::vector<int> both(2 * ones_.size(), -7);
      std::vector<int> out(ones_.size());
      std::vector<int> in(ones_.size());
      for (std::size_t r = 0; r < ones_.size(); ++r) {
        both[r] = 100 * rank_in() + static_cast<int>(r);
        out[r] = static_cast<int>(r);
        in[r] = static_cast<int>(ones_.size() + r);
      }
      ASSERT_EQ(SIBYL_Alltoallv(both.data(), ones_.data(), out.data(), MPI_INT, both.data(),
                                ones_.data(), in.data(), MPI_INT, comm),
                MPI_SUCCESS);
      for (std::size_t r = 0; r < ones_.size(); ++r) {
        EXPECT_EQ(both[r], 100 * rank_in() + static_cast<int>(r));
        EXPECT_EQ(both[ones_.size() + r], 100 * static_cast<int>(r) + rank_in());
      }
    }
  }
}

// More arrives at the last rank than it has room for: it says so, and nobody hangs.
TEST_F(Exchanges, ReportTooLittleRoom) {
  if (size_of() < 2) GTEST_SKIP() << "nothing arrives";
  const int size = size_of();
  const bool last = rank_in() == size - 1;
  std::vector<const Algorithm*> rows;
  for (const Algorithm& row : algorithms(Collective::bcast)) rows.push_back(&row);
  for (const Algorithm& row : algorithms(Collective::alltoallv)) rows.push_back(&row);
  for (const Algorithm* row : rows) {
    for (const int sent : {8, 30000}) {
      SCOPED_TRACE(std::string(row->name) + ", " + std::to_string(sent));
      Served served(row->collective, row);
      served.force(row, 2);  // as many segments at all ranks, which differ in their sizes
      MPI_Comm_set_errhandler(served.get(), handler_);
      handler_calls = 0;
      handler_comm = MPI_COMM_NULL;
      const int room = last ? sent / 2 : sent;
      std::vector<int> receive(static_cast<std::size_t>(room * size + 64), -7);
      if (row->collective == Collective::bcast) {
        receive.resize(static_cast<std::size_t>(room + 64), -7);
        SIBYL_Bcast(receive.data(), room, MPI_INT, 0, served.get());
      } else {
        const std::vector<int> out(ones_.size(), sent);
        const std::vector<int> in(ones_.size(), room);
        std::vector<int> places(ones_.size());
        for (std::size_t r = 0; r < places.size(); ++r) places[r] = room * static_cast<int>(r);
        const std::vector<int> all(static_cast<std::size_t>(sent), 3);
        SIBYL_Alltoallv(all.data(), out.data(), places_.data(), MPI_INT, receive.data(), in.data(),
                        places.data(), MPI_INT, served.get());
      }
      EXPECT_EQ(handler_calls, last ? 1 : 0);
      if (last) {
        EXPECT_EQ(handler_class, MPI_ERR_TRUNCATE);
        EXPECT_EQ(handler_comm, served.get()) << "raised elsewhere";
      }
      for (std::size_t i = receive.size() - 64; i < receive.size(); ++i) {
        ASSERT_EQ(receive[i], -7) << "written beyond the end";
      }
      expect_alive(served.get());
    }
  }
}

}  // namespace
}  // namespace sibyl::test
