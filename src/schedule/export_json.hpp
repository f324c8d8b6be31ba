// A plan as JSON, for readers in any language.
//
// {"collective","algorithm","ranks","root","segments",
//  "programs":[[{"kind","peer","buffer","first","count","round","gate","from","after"}, ...], ...],
//  "partition","rounds","tag_span","window":{"sends","receives"},"staging","one_ported",
//  "keeps_order","scratch_units":[...],"in_place":[...]}
//
// One inner list per rank, in program order. `peer` is null and `from` {"buffer","first"} is there
// for copy and combine alone. A slice of several ranges has "ranges":[[first,count],...] too, after
// "count" ("first" in `from`); `first` is then that of the first range and `count` the total.
// `after` names every step that must be complete before, those that the data implies included: a
// reader needs no derivation of its own. (A receive_combine may post its message earlier; see
// schedule/dependencies.hpp.)
#pragma once

#include <string>

#include "sibyl/schedule.hpp"

namespace sibyl {

// One line per step.
std::string export_json(const Plan& plan);

}  // namespace sibyl
