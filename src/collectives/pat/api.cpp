// The functions of sibyl/pat.h, and what each of their names stands for.
#include "sibyl/pat.h"

#include <array>

#include "collectives/call.hpp"
#include "collectives/pat/pat.hpp"

namespace {

using sibyl::Collective;
using sibyl::Pat;
using sibyl::PatFunction;

constexpr PatFunction gather_lin{Collective::gather, "linear", false, false};
constexpr PatFunction gather_ls{Collective::gather, "linear-synchronised", false, false};
constexpr PatFunction gather_sls{Collective::gather, "linear-synchronised", true, false};
constexpr PatFunction gather_bsls{Collective::gather, "linear-synchronised", true, true};
constexpr PatFunction gather_bnom{Collective::gather, "binomial", false, false};
constexpr PatFunction gather_sbn{Collective::gather, "binomial", true, false};
constexpr PatFunction gather_bsbn{Collective::gather, "binomial", true, true};
constexpr PatFunction scatter_lin{Collective::scatter, "linear", false, false};
constexpr PatFunction scatter_slin{Collective::scatter, "linear", true, false};
constexpr PatFunction scatter_bslin{Collective::scatter, "linear", true, true};
constexpr PatFunction scatter_bnom{Collective::scatter, "binomial", false, false};
constexpr PatFunction scatter_sbn{Collective::scatter, "binomial", true, false};
constexpr PatFunction scatter_bsbn{Collective::scatter, "binomial", true, true};
constexpr PatFunction reduce_bnom{Collective::reduce, "binomial", false, false};
constexpr PatFunction reduce_rab{Collective::reduce, "rabenseifner", false, false};
constexpr PatFunction reduce_rxk{Collective::reduce, "radix-k", false, false};
constexpr PatFunction reduce_ring{Collective::reduce, "ring", false, false};
constexpr PatFunction reduce_clv{Collective::reduce, "clairvoyant", true, true};

struct Name {
  PAT_Function address;
  const PatFunction* function;
};

template <class Address>
Name name(Address address, const PatFunction& function) {
  return {reinterpret_cast<PAT_Function>(address), &function};
}

const PatFunction* find(PAT_Function address) {
  const std::array names{
      name(PAT_Gather_LIN, gather_lin),     name(PAT_Gather_LS, gather_ls),
      name(PAT_Gather_SLS, gather_sls),     name(PAT_Gather_BSLS, gather_bsls),
      name(PAT_Gather_BNOM, gather_bnom),   name(PAT_Gather_SBN, gather_sbn),
      name(PAT_Gather_BSBN, gather_bsbn),   name(PAT_Scatter_LIN, scatter_lin),
      name(PAT_Scatter_SLIN, scatter_slin), name(PAT_Scatter_BSLIN, scatter_bslin),
      name(PAT_Scatter_BNOM, scatter_bnom), name(PAT_Scatter_SBN, scatter_sbn),
      name(PAT_Scatter_BSBN, scatter_bsbn), name(PAT_Reduce_BNOM, reduce_bnom),
      name(PAT_Reduce_RAB, reduce_rab),     name(PAT_Reduce_RXK, reduce_rxk),
      name(PAT_Reduce_RING, reduce_ring),   name(PAT_Reduce_CLV, reduce_clv),
  };
  for (const Name& known : names) {
    if (known.address == address) return known.function;
  }
  return nullptr;
}

template <class Act>
int between_init_and_finalize(Act act) {
  Pat* pat = Pat::get();
  return pat == nullptr ? sibyl::raise_nowhere(MPI_ERR_OTHER) : act(*pat);
}

}  // namespace

extern "C" {

int PAT_Init(void) { return Pat::init(); }
int PAT_Finalize(void) { return Pat::finalize(); }

int(PAT_UseAlg)(PAT_Function function) {
  return between_init_and_finalize([&](Pat& pat) { return pat.use(find(function)); });
}
int PAT_ProcessingStart(void) {
  return between_init_and_finalize([](Pat& pat) { return pat.processing_start(); });
}
int PAT_Edge(double fraction) {
  return between_init_and_finalize([&](Pat& pat) { return pat.edge(fraction); });
}
int PAT_ProcessingEnd(void) {
  return between_init_and_finalize([](Pat& pat) { return pat.processing_end(); });
}

#define SIBYL_PAT_BLOCKS(name, function)                                                           \
  int name(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,               \
           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {                        \
    return sibyl::pat_blocks(function, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, \
                             root, comm);                                                          \
  }
SIBYL_PAT_BLOCKS(PAT_Gather_LIN, gather_lin)
SIBYL_PAT_BLOCKS(PAT_Gather_LS, gather_ls)
SIBYL_PAT_BLOCKS(PAT_Gather_SLS, gather_sls)
SIBYL_PAT_BLOCKS(PAT_Gather_BSLS, gather_bsls)
SIBYL_PAT_BLOCKS(PAT_Gather_BNOM, gather_bnom)
SIBYL_PAT_BLOCKS(PAT_Gather_SBN, gather_sbn)
SIBYL_PAT_BLOCKS(PAT_Gather_BSBN, gather_bsbn)
SIBYL_PAT_BLOCKS(PAT_Scatter_LIN, scatter_lin)
SIBYL_PAT_BLOCKS(PAT_Scatter_SLIN, scatter_slin)
SIBYL_PAT_BLOCKS(PAT_Scatter_BSLIN, scatter_bslin)
SIBYL_PAT_BLOCKS(PAT_Scatter_BNOM, scatter_bnom)
SIBYL_PAT_BLOCKS(PAT_Scatter_SBN, scatter_sbn)
SIBYL_PAT_BLOCKS(PAT_Scatter_BSBN, scatter_bsbn)

#define SIBYL_PAT_REDUCE(name, function)                                                    \
  int name(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, \
           int root, MPI_Comm comm) {                                                       \
    return sibyl::pat_reduce(function, sendbuf, recvbuf, count, datatype, op, root, comm);  \
  }
SIBYL_PAT_REDUCE(PAT_Reduce_BNOM, reduce_bnom)
SIBYL_PAT_REDUCE(PAT_Reduce_RAB, reduce_rab)
SIBYL_PAT_REDUCE(PAT_Reduce_RXK, reduce_rxk)
SIBYL_PAT_REDUCE(PAT_Reduce_RING, reduce_ring)
SIBYL_PAT_REDUCE(PAT_Reduce_CLV, reduce_clv)

}  // extern "C"
