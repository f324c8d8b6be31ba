// Wrong arguments: the right class, raised once through the communicator's own error handler, no
// hang, nothing written, and the communicator serves the next call.
#include "collectives/errors.hpp"
#include "executor/mpi_library.hpp"

namespace sibyl::test {
namespace {

void undefined_product(void*, void*, int*, MPI_Datatype*) {}

class Truncation : public Errors {
 protected:
  // Too little room in both engines of every algorithm.
  void truncate(MPI_Errhandler handler) {
    const int size = size_of();
    for (const Collective collective : {Collective::gather, Collective::scatter}) {
      for (const Algorithm& row : algorithms(collective)) {
        for (const int sent : {8, 6000}) {
          SCOPED_TRACE(std::string(row.name) + ", " + std::to_string(sent));
          Served served(collective, &row);
          MPI_Comm_set_errhandler(served.get(), handler);
          handler_calls = 0;
          handler_comm = MPI_COMM_NULL;
          std::vector<int> send(static_cast<std::size_t>(sent * size), 3);
          const int room = sent / 2;
          std::vector<int> receive(static_cast<std::size_t>(room * size + 64), -7);
          const bool is_root = rank_in() == 0;
          int result = MPI_SUCCESS;
          bool short_of_room = false;
          if (collective == Collective::gather) {
            result = SIBYL_Gather(send.data(), sent, MPI_INT, receive.data(), room, MPI_INT, 0,
                                  served.get());
            short_of_room = is_root;
          } else {
            // The last rank alone has too little room.
            short_of_room = rank_in() == size - 1;
            if (!short_of_room) receive.resize(static_cast<std::size_t>(sent * size + 64), -7);
            result = SIBYL_Scatter(send.data(), sent, MPI_INT, receive.data(),
                                   short_of_room ? room : sent, MPI_INT, 0, served.get());
          }
          EXPECT_EQ(class_of(result), short_of_room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
          if (handler == handler_) {
            EXPECT_EQ(handler_calls, short_of_room ? 1 : 0);
            EXPECT_EQ(handler_comm == served.get(), short_of_room) << "raised elsewhere";
          }
          for (std::size_t i = receive.size() - 64; i < receive.size(); ++i) {
            ASSERT_EQ(receive[i], -7) << "written beyond the end";
          }
          expect_alive(served.get());
        }
      }
    }
  }
};

TEST_F(Errors, ScansRefuseWrongArguments) {
  using Scan = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  void* to = receive_.data();
  const void* from = send_.data();
  for (const Scan scan : {Scan{&SIBYL_Exscan}, Scan{&SIBYL_Scan}}) {
    expect_error(MPI_ERR_COUNT, "negative count",
                 [&](MPI_Comm comm) { return scan(from, to, -1, MPI_INT, MPI_SUM, comm); });
    expect_error(MPI_ERR_TYPE, "null datatype", [&](MPI_Comm comm) {
      return scan(from, to, count, MPI_DATATYPE_NULL, MPI_SUM, comm);
    });
    expect_error(MPI_ERR_OP, "null operator",
                 [&](MPI_Comm comm) { return scan(from, to, count, MPI_INT, MPI_OP_NULL, comm); });
    expect_error(MPI_ERR_OP, "operator not defined for the type",
                 [&](MPI_Comm comm) { return scan(from, to, count, MPI_DOUBLE, MPI_BAND, comm); });
    expect_error(MPI_ERR_BUFFER, "null send buffer",
                 [&](MPI_Comm comm) { return scan(nullptr, to, count, MPI_INT, MPI_SUM, comm); });
  }
  expect_error(MPI_ERR_BUFFER, "MPI_IN_PLACE as receive buffer", [&](MPI_Comm comm) {
    return SIBYL_Scan(from, MPI_IN_PLACE, count, MPI_INT, MPI_SUM, comm);
  });
}

// MPI_IN_PLACE, or what is sent; whoever serves the call.
TEST_F(Errors, ExscanTakesAnyReceiveBufferWhereItIsNotSignificant) {
  Served served(Collective::exscan, nullptr);
  const MPI_Comm comm = served.get();
  const bool first = rank_in() == 0;
  for (const bool natively : {false, true}) {
    if (natively) leave_to_library(served, Collective::exscan);
    for (void* const any : {MPI_IN_PLACE, static_cast<void*>(send_.data())}) {
      void* const to = first ? any : receive_.data();
      EXPECT_EQ(SIBYL_Exscan(send_.data(), to, count, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
      EXPECT_EQ(first ? send_.front() : receive_.front(), first ? 1 : rank_in());
      receive_.fill(-7);
      SIBYL_Request request = SIBYL_REQUEST_NULL;
      AlgorithmInfo info(natively ? "native" : "auto");
      ASSERT_EQ(
          SIBYL_Exscan_init(send_.data(), to, count, MPI_INT, MPI_SUM, comm, info.handle, &request),
          MPI_SUCCESS);
      SIBYL_Start(&request);
      SIBYL_Arrive(&request);
      EXPECT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
      EXPECT_EQ(first ? send_.front() : receive_.front(), first ? 1 : rank_in());
      SIBYL_Request_free(&request);
    }
  }
  if (!first) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EXPECT_EQ(class_of(SIBYL_Exscan(send_.data(), MPI_IN_PLACE, count, MPI_INT, MPI_SUM, comm)),
              MPI_ERR_BUFFER);
  }
  expect_alive(comm);
}

#ifdef MPICH_VERSION  // elsewhere handles are addresses, and other ones may end the program
TEST_F(Errors, WhatIsNoCommunicatorIsRaisedOnce) {
  const auto none = static_cast<MPI_Comm>(MPI_INT);
  const int one = 1;
  const double time = 0;
  void* const to = receive_.data();
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  const std::array<std::function<int()>, 4> calls{
      [&] { return SIBYL_Gather(&one, 1, MPI_INT, to, 1, MPI_INT, 0, none); },
      [&] { return SIBYL_Barrier(none); },
      [&] { return SIBYL_Comm_set_arrivals(none, &time, 1); },
      [&] { return SIBYL_Bcast_init(to, 1, MPI_INT, 0, none, MPI_INFO_NULL, &request); },
  };
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, handler_);
  }
  for (const auto& call : calls) {
    handler_calls = 0;
    EXPECT_EQ(class_of(call()), MPI_ERR_COMM);
    EXPECT_EQ(handler_calls, 1);
    EXPECT_EQ(handler_class, MPI_ERR_COMM);
  }
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  }
}
#endif

// What is sent by such a type would be what lay in memory before.
TEST_F(Errors, TypesThatAreNotCommittedAreRefused) {
  const bool sends = mpi_library() == MpiLibrary::simgrid;
  if (sends || size_of() == 1) GTEST_SKIP() << "the library takes them";
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  const int root = size_of() - 1;
  void* to = receive_.data();
  void* from = send_.data();
  expect_error(MPI_ERR_TYPE, "gather",
               [&](MPI_Comm comm) { return SIBYL_Gather(from, 1, pair, to, 1, pair, root, comm); });
  expect_error(MPI_ERR_TYPE, "bcast",
               [&](MPI_Comm comm) { return SIBYL_Bcast(from, 1, pair, root, comm); });
  expect_error(MPI_ERR_TYPE, "allgather",
               [&](MPI_Comm comm) { return SIBYL_Allgather(from, 1, pair, to, 1, pair, comm); });
  MPI_Type_free(&pair);
}

TEST_F(Errors, ReduceRefusesWrongArguments) {
  const int size = size_of();
  const void* from = send_.data();
  void* to = receive_.data();
  const auto reduce = [&](const void* send, void* receive, int elements, MPI_Datatype type,
                          MPI_Op op, int root) {
    return
        [=](MPI_Comm comm) { return SIBYL_Reduce(send, receive, elements, type, op, root, comm); };
  };
  expect_error(MPI_ERR_ROOT, "root below 0", reduce(from, to, 1, MPI_INT, MPI_SUM, -1));
  expect_error(MPI_ERR_ROOT, "root too large", reduce(from, to, 1, MPI_INT, MPI_SUM, size));
  expect_error(MPI_ERR_COUNT, "negative count", reduce(from, to, -1, MPI_INT, MPI_SUM, 0));
  expect_error(MPI_ERR_TYPE, "null datatype", reduce(from, to, 1, MPI_DATATYPE_NULL, MPI_SUM, 0));
  expect_error(MPI_ERR_OP, "null operator", reduce(from, to, 1, MPI_INT, MPI_OP_NULL, 0));
  expect_error(MPI_ERR_OP, "operator not defined for the type",
               reduce(from, to, count, MPI_DOUBLE, MPI_BAND, 0));
  expect_error(MPI_ERR_BUFFER, "null send buffer", reduce(nullptr, to, 1, MPI_INT, MPI_SUM, 0));
  const Duplicate comm;
  expect_alive(comm.get());
  const bool at_root = rank_in() == 0;
  if (at_root) {
    EXPECT_EQ(class_of(reduce(from, MPI_IN_PLACE, 0, MPI_INT, MPI_SUM, 0)(comm.get())),
              MPI_ERR_BUFFER);
  } else {
    EXPECT_EQ(class_of(reduce(MPI_IN_PLACE, nullptr, 0, MPI_INT, MPI_SUM, 0)(comm.get())),
              MPI_ERR_BUFFER);
  }
  expect_alive(comm.get());
}

TEST_F(Errors, GatherRefusesWrongArguments) {
  const int size = size_of();
  const auto gather = [&](const void* from, int from_count, MPI_Datatype from_type, void* to,
                          int to_count, MPI_Datatype to_type, int root) {
    return [=](MPI_Comm comm) {
      return SIBYL_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
    };
  };
  const void* from = send_.data();
  void* to = receive_.data();
  expect_error(MPI_ERR_ROOT, "root below 0", gather(from, 1, MPI_INT, to, 1, MPI_INT, -1));
  expect_error(MPI_ERR_ROOT, "root too large", gather(from, 1, MPI_INT, to, 1, MPI_INT, size));
  expect_error(MPI_ERR_COUNT, "negative count", gather(from, -2, MPI_INT, to, -2, MPI_INT, 0));
  expect_error(MPI_ERR_TYPE, "null datatype",
               gather(from, 1, MPI_DATATYPE_NULL, to, 1, MPI_DATATYPE_NULL, 0));
  expect_error(MPI_ERR_BUFFER, "null send buffer", gather(nullptr, 1, MPI_INT, to, 1, MPI_INT, 0));
}

TEST_F(Errors, ScatterRefusesWrongArguments) {
  const int size = size_of();
  const auto scatter = [&](const void* from, int from_count, MPI_Datatype from_type, void* to,
                           int to_count, MPI_Datatype to_type, int root) {
    return [=](MPI_Comm comm) {
      return SIBYL_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm);
    };
  };
  const void* from = send_.data();
  void* to = receive_.data();
  expect_error(MPI_ERR_ROOT, "root below 0", scatter(from, 1, MPI_INT, to, 1, MPI_INT, -1));
  expect_error(MPI_ERR_ROOT, "root too large", scatter(from, 1, MPI_INT, to, 1, MPI_INT, size));
  expect_error(MPI_ERR_COUNT, "negative count", scatter(from, -2, MPI_INT, to, -2, MPI_INT, 0));
  expect_error(MPI_ERR_TYPE, "null datatype",
               scatter(from, 1, MPI_DATATYPE_NULL, to, 1, MPI_DATATYPE_NULL, 0));
  expect_error(MPI_ERR_BUFFER, "null receive buffer",
               scatter(from, 1, MPI_INT, nullptr, 1, MPI_INT, 0));
}

// MPI_IN_PLACE is for the root alone, on its own block.
TEST_F(Errors, InPlaceAwayFromTheRootIsRefusedThereAndHurtsNobodyLater) {
  const Duplicate comm;
  expect_alive(comm.get());
  const int size = size_of();
  const int rank = rank_in();
  if (size > 1) {
    // In a scatter from rank 0 nobody waits for the last rank.
    void* own = rank == size - 1 ? MPI_IN_PLACE : static_cast<void*>(receive_.data());
    const int result = SIBYL_Scatter(send_.data(), 1, MPI_INT, own, 1, MPI_INT, 0, comm.get());
    EXPECT_EQ(class_of(result), rank == size - 1 ? MPI_ERR_BUFFER : MPI_SUCCESS);
  }
  expect_alive(comm.get());
}

// A rank that refuses a call takes no part in it. What the others sent is there for its next call,
// as in the MPI libraries: it stays behind by one, and nobody hangs.
TEST_F(Errors, RootRefusesAloneAndNobodyHangs) {
  for (const Algorithm& row : algorithms(Collective::gather)) {
    if (row.name == "linear-synchronised") continue;  // leaves wait for the root there
    SCOPED_TRACE(row.name);
    Served served(Collective::gather, &row);
    const int rank = rank_in();
    const int count = rank == 0 ? -1 : 1;
    send_[0] = 1000 + rank;
    for (int call = 0; call < 4; ++call) {
      const int result = SIBYL_Gather(send_.data(), 1, MPI_INT, receive_.data(),
                                      call == 0 ? count : 1, MPI_INT, 0, served.get());
      const bool refused = rank == 0 && call == 0;
      ASSERT_EQ(class_of(result), refused ? MPI_ERR_COUNT : MPI_SUCCESS);
      for (int r = 0; rank == 0 && !refused && r < size_of(); ++r) {
        ASSERT_EQ(receive_[static_cast<std::size_t>(r)], 1000 + r);
      }
    }
  }
}

// The same where the others do not make the call.
TEST_F(Errors, CallsThatOneRankAloneMakesAndIsRefusedChangeNothing) {
  const Duplicate comm;
  expect_alive(comm.get());
  const int* from = send_.data();
  int* to = receive_.data();
  for (int call = 0; call < 5 && rank_in() == size_of() - 1; ++call) {
    EXPECT_EQ(class_of(SIBYL_Reduce(from, to, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm.get())),
              MPI_ERR_TYPE);
    EXPECT_EQ(class_of(SIBYL_Scan(from, to, 1, MPI_INT, MPI_OP_NULL, comm.get())), MPI_ERR_OP);
    EXPECT_EQ(class_of(SIBYL_Gather(from, -1, MPI_INT, to, 1, MPI_INT, 0, comm.get())),
              MPI_ERR_COUNT);
    EXPECT_EQ(class_of(SIBYL_Gatherv(from, 1, MPI_INT, to, nullptr, nullptr, MPI_INT, size_of(),
                                     comm.get())),
              MPI_ERR_ROOT);
  }
  expect_alive(comm.get());
}

// More arrives than the receiver has room for. The handlers of the world and of MPI_COMM_SELF are
// the default ones, which end the job: nothing may be raised there.
TEST_F(Truncation, IsReportedByEveryAlgorithm) {
  for (const MPI_Errhandler handler : {MPI_ERRORS_RETURN, handler_}) truncate(handler);
}

TEST_F(Errors, UserOperatorsAreTakenOnAnyTypeAndZeroCountsNeverFail) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&undefined_product, 0, &op);
  const Duplicate comm;
  EXPECT_EQ(SIBYL_Exscan(send_.data(), receive_.data(), 1, MPI_CHAR, op, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Exscan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Scan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, comm.get()), MPI_SUCCESS);
  MPI_Op_free(&op);
}

}  // namespace
}  // namespace sibyl::test
