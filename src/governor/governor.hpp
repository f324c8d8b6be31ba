// Keeps Sibyl from being slower than the MPI library: which calls are trials, and what they took.
//
// Choices rest on a model that was measured once, which may be wrong. So calls of one site -
// collective, root, operator, size class and chosen algorithm - are served in turns by that
// algorithm (the own arm), by the MPI library (the native arm) and by the algorithm that the model
// has next (the challenger), and each rank notes when it joined and left them. Now and then ranks
// tell rank 0, which judges (judge.hpp) and tells all. This file knows no messages and no clock
// (communicator/governing.hpp has them).
//
// Ranks in step. Which arm a call has follows from its number at its site and from what rank 0 has
// told, which all ranks follow from the same call on. Calls are counted as they take part: one that
// its rank refuses before anything has moved is behind by one call, in what it counts here as in
// the messages that it takes, whose tags are the same at every call.
//
// A trial is between two arms, the one in force and a contender: a number of pairs of calls, one by
// each, in an order that is drawn by the number of the call, so that of each four pairs two begin
// with the contender, and calls that are of one kind every second or every fourth time are as many
// for either. The first one of a contender begins
// with a pair that is not looked at, since programs are planned and connections made. The library
// is tried first, the challenger against the better of the two; then each at its own time. A
// persistent request, which has a governor of its own, knows no call of the library's: its program
// and the challenger's take turns.
//
// Lines. Equal calls may stand on several lines of the program, and be better served otherwise at
// each. Rank 0 notes from which line it makes them (arrival/call_lines.hpp), and tells with its
// verdicts whose turn which number of a call is; from then on each line has a site of its own, on
// all ranks by the number alone.
//
// Roots. Each of the first few roots of a collective has a site of its own, and all further ones
// have one together, or calls whose roots go round would fill the room, and none of their sites
// would have calls enough for a trial.
//
// Sites of calls that are known to be short send no messages: they have trials only where another
// site of the communicator has agreed on something, and tell of them when it does so again.
//
// Room. All of it is taken at once, since a rank that found none later would part from the others.
// What comes when there is no more is the library's: nothing would show that it is slower.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "arrival/call_lines.hpp"
#include "governor/verdict.hpp"
#include "selection/choose.hpp"

namespace sibyl {

class Governor {
 public:
  struct Key {
    Collective collective = Collective::exscan;
    Rank root = no_rank;  // also of the site that further roots have together
    OperatorUse operator_use = OperatorUse::none;
    bool commutes = true;
    int size_class = 0;  // bits of the number of bytes, of a vector or of one block
    const Algorithm* own = nullptr;
    const Algorithm* challenger = nullptr;  // nullptr: there is none
    Rank blocks = 1;                        // of this size in a call
    int line = 0;         // of the program, as CallTurns numbers them; 0: all, or none of those
    bool library = true;  // the MPI library may serve it
    // Whether a call has governed_from bytes, where all ranks know how many; a class may have of
    // both.
    bool long_calls = false;
    // Of all calls of this class; 0 where not all ranks know their sizes.
    std::uint64_t least_bytes() const { return size_class == 0 ? 0 : 1ULL << (size_class - 1); }
    std::uint64_t most_bytes() const {
      return size_class == 0 ? 0 : least_bytes() + (least_bytes() - 1);
    }
    // Whether its calls are long enough to look for their line.
    bool is_long() const { return long_calls; }
    // Whether they may send messages: where not all ranks know how long they are, too, or nobody
    // would ever see that long ones are slow. What messages take makes the next ones rarer.
    bool may_send() const {
      const bool unknown = collective == Collective::gatherv ||
                           collective == Collective::scatterv ||
                           collective == Collective::alltoallv;
      return unknown || is_long();
    }
    bool has(Arm arm) const {
      if (arm == Arm::native) return library;
      return arm == Arm::own || challenger != nullptr;
    }
    // Between which the arm in force is tried.
    int contenders() const { return library && challenger != nullptr ? 2 : 1; }
    bool operator==(const Key&) const = default;
    Key with_root(Rank one) const {
      Key other = *this;
      other.root = one;
      return other;
    }
    std::uint64_t hash() const;
  };

  static constexpr std::size_t most_sites = 128;
  static constexpr int most_roots = 4;  // with sites of their own
  static constexpr std::size_t sites_of_an_agreement = 4;
  static constexpr std::array<int, 4> pairs_of_looks{4, 4, 8, 8};
  static constexpr std::size_t most_pairs = 8;
  static constexpr std::size_t watched = 4;
  static constexpr double not_comparable = -1;
  static constexpr std::int64_t first_pause = 256;  // calls until the first trial after another
  // When a rank joined a call and left it: seconds of a clock that all ranks share; where they
  // share none, since it has joined.
  struct Stay {
    double joined = 0;
    double left = not_comparable;
  };
  // The challenger's first trial comes no sooner where the library's took all of its looks: a site
  // is not to spend its first hundred calls in trials.
  static constexpr std::int64_t first_challenge = 128;

  struct Site {
    Key key;
    bool sends = false;  // its calls may
    // Of the site of no line, whose key is that of all its lines: calls of all of them, and whose
    // turn they are.
    std::int64_t made = 0;
    CallTurns turns;
    std::unique_ptr<CallLines> lines;  // at rank 0

    std::int64_t calls = 0;
    std::array<std::int64_t, arm_count> served{};  // of these, by Arm
    std::uint64_t arrivals = 0;                    // version of those that its calls follow
    Arm arm = Arm::own;                            // in force, but for the calls of a trial
    bool decided = false;                          // by a trial
    std::array<double, arm_count> cost{};  // by Arm, as its last trial has found it; 0: none has

    bool trying = false;
    Arm contender = Arm::native;  // in the trial
    std::size_t look = 0;         // of the trial
    int begun = 0;                // its calls since the last look
    int unseen = 0;               // so many of these come before those that are looked at
    bool reported = false;

    std::int64_t reported_at = 0;                             // calls by then
    std::array<std::int64_t, arm_count> next_trial{1, 1, 1};  // by contender: number of the call
    std::int64_t next_watch = 0;
    std::int64_t decided_at = 0;

    // Of the arm in force, and of the contender.
    std::array<std::array<Stay, most_pairs>, 2> stays{};
    std::array<Stay, watched> recent{};
    std::size_t noted = 0;  // in `recent`, ever since the decision

    int calls_of_look() const { return 2 * pairs_of_looks[look] + unseen; }
    bool look_is_due() const { return trying && begun == calls_of_look(); }
    bool watch_is_due() const {
      return !trying && sends && arm != Arm::native && noted >= watched && calls >= next_watch;
    }
    // Who is to be tried against the arm in force now; that arm itself: nobody.
    Arm next_contender() const;
    Arm rival() const {
      if (key.library) return Arm::native;
      return arm == Arm::own ? Arm::challenger : Arm::own;
    }
    // The next trials come no later than after this pause, which doubles as long as trials that are
    // hurried so find the same, or arrivals that change all the time would have trials all the
    // time.
    void reconsider();
    std::int64_t pause_of_changes = first_pause;
    bool hurried = false;
  };

  // `stay` is where this rank's is to be noted; nullptr: nowhere.
  struct Call {
    Site* site = nullptr;  // nullptr: it has none, and the library's arm where there is no room
    Arm arm = Arm::own;
    Stay* stay = nullptr;
  };

  // Of the communicator of this number, the same on its ranks: reports of another one, which a call
  // that failed may have left behind, do not pass for its own.
  explicit Governor(std::uint64_t communicator = 0) : communicator_(communicator) {
    sites_.reserve(most_sites);
  }

  static Key key_of(Collective collective, Rank root, std::uint64_t bytes, OperatorUse use,
                    bool commutes, const Algorithm* own, const Algorithm* challenger = nullptr,
                    Rank ranks = 1);
  // A call begins. `arrivals`: the version of those that it follows; `place`: where in the program
  // it was made, as rank 0 alone says. May throw std::bad_alloc.
  Call enter(const Key& key, std::uint64_t arrivals, std::int64_t place = 0);
  // At rank 0: whose turns the calls of the kind are that this site is of.
  CallTurns turns_seen(std::size_t site);

  // What a rank does before a call: all of them the same before the same one.
  enum class Step : std::uint8_t {
    nothing,
    report,   // tells rank 0 what calls took
    collect,  // rank 0 alone: takes in what all have told, and tells all its verdicts
    follow,   // these come into force
  };
  Step begin_call();
  static constexpr std::int64_t calls_in_flight = 2;  // from a report to its verdicts
  bool is_under_way() const { return under_way_; }
  // The next call follows verdicts.
  bool follows_next() const { return under_way_ && number_ + 1 == reported_at_ + calls_in_flight; }

  // What governing has taken, in seconds: at work, and waiting for other ranks' messages.
  struct Spent {
    double at_work = 0;
    double waiting = 0;
  };
  // What this rank has to tell. The first word is the same on ranks that are in step; then what
  // governing has taken since the last report: at work, waiting, and waiting once more, of which
  // rank 0 makes the least of all ranks. From now on these sites wait for their verdicts.
  // Gives the number of words.
  static constexpr std::size_t report_head = 4;
  // When the last rank joined a call and the last one left it, and when the first one joined.
  static constexpr std::size_t words_of_a_stay = 3;
  using Report =
      std::array<double, report_head + sites_of_an_agreement * 2 * most_pairs * words_of_a_stay>;
  std::size_t write_report(Report& report, Spent spent);

  // One of the sites in the report under way, and where in it its words are.
  struct Reported {
    std::size_t site = 0;
    bool trial = false;
    Arm arm = Arm::own;  // in force
    Arm contender = Arm::native;
    Arm rival = Arm::native;  // is tried at once where Sibyl's arm in force has become slower
    int contenders = 1;       // between which trials are shared
    std::size_t pairs = 0;    // of the trial
    bool last_look = false;
    std::size_t begin = 0;
  };
  std::span<const Reported> reported() const { return {reported_.data(), reported_count_}; }
  // The verdicts on these, in their order, come into force.
  void apply(std::span<const SiteVerdict> verdicts);
  // Ranks are not in step, or cannot tell each other: all sites are served as chosen.
  void switch_off();
  bool is_off() const { return off_; }

  std::span<const Site> sites() const { return sites_; }

 private:
  std::size_t place_of(const Key& key) const;
  Site* known(const Key& key);
  Site* find(const Key& key);
  Site* site_of(const Key& key, std::int64_t place);
  // Whether a site that may send messages has something to say.
  bool has_to_tell() const;
  double fingerprint() const;
  static void begin_trial(Site& site, Arm contender);
  static void end_trial(Site& site, const SiteVerdict& verdict);
  void draw(Site& site, Call& call);
  void note(Site& site, Call& call);

  std::uint64_t communicator_;
  std::vector<Site> sites_;
  // Where keys lie by their hashes: 1 + the number of the site, 0: none. Half stays free.
  std::array<std::uint8_t, 2 * most_sites> places_{};
  static_assert(most_sites <= std::numeric_limits<std::uint8_t>::max());
  std::size_t last_found_ = 0;
  std::int64_t number_ = 0;  // of calls
  std::int64_t reported_at_ = 0;
  bool under_way_ = false;
  bool wanted_ = false;
  bool off_ = false;
  std::int64_t agreements_ = 0;
  std::size_t next_reported_ = 0;  // sites take turns where there are more than a report holds
  std::array<Reported, sites_of_an_agreement> reported_{};
  std::size_t reported_count_ = 0;
};

}  // namespace sibyl
