// Settings from the environment: right names are found, wrong ones are explained.
#include "selection/settings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

static_assert(algorithm_variables.size() == collective_count);

// SIBYL_ and the name of the collective in capitals.
std::string variable_of(Collective collective) {
  std::string name = "SIBYL_";
  for (const char letter : name_of(collective)) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
}

TEST(Settings, HaveAVariableForEveryCollective) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    EXPECT_EQ(algorithm_variables[c], variable_of(static_cast<Collective>(c)));
  }
}

TEST(Settings, FindEveryAlgorithmByName) {
  for (std::size_t own = 0; own < collective_count; ++own) {
    const auto rows = algorithms(static_cast<Collective>(own));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Environment environment;
      environment.algorithm[own] = std::string(rows[i].name);
      Settings settings;
      EXPECT_EQ(settings_from(environment, settings), "");
      for (std::size_t c = 0; c < collective_count; ++c) {
        EXPECT_EQ(settings.algorithm[c],
                  c == own ? static_cast<std::int32_t>(i) : choose_automatically);
      }
    }
  }
}

TEST(Settings, TakeNativeAndAuto) {
  Environment environment;
  environment.algorithm[1] = "native";
  Settings settings;
  EXPECT_EQ(settings_from(environment, settings), "");
  EXPECT_EQ(settings.algorithm[static_cast<std::size_t>(Collective::scan)], serve_natively);
  EXPECT_EQ(settings.algorithm[static_cast<std::size_t>(Collective::gather)], choose_automatically);
}

TEST(Settings, NameTheVariableAndItsChoicesWhenAValueIsWrong) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    Environment environment;
    environment.algorithm[c] = "Quick";
    Settings settings;
    const std::string problem = settings_from(environment, settings);
    EXPECT_EQ(problem.find(variable_of(collective) + "=Quick"), 0U) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << "one line";
    for (const Algorithm& row : algorithms(collective)) {
      EXPECT_NE(problem.find(std::string(row.name)), std::string::npos) << problem;
    }
    EXPECT_NE(problem.find("native"), std::string::npos) << problem;
    EXPECT_EQ(settings.algorithm[c], choose_automatically) << "the default stays";
  }
}

TEST(Settings, PassOnTheFirstProblemOfTheEnvironment) {
  Environment environment;
  environment.problem = "SIBYL_COMMUNICATORS=x: not a whole number";
  environment.algorithm[2] = "Quick";
  Settings settings;
  EXPECT_EQ(settings_from(environment, settings), environment.problem);
}

TEST(Settings, AreGovernedUnlessTheEnvironmentSaysNo) {
  const auto governed = [](const char* value) {
    static const char* said;
    said = value;
    Settings settings;
    const Environment environment = read_environment([](const char* name) -> const char* {
      return std::string_view(name) == "SIBYL_GOVERN" ? said : nullptr;
    });
    EXPECT_EQ(settings_from(environment, settings), environment.problem);
    EXPECT_EQ(environment.problem.empty(), said == nullptr || said[0] < '2');
    return settings.govern;
  };
  EXPECT_EQ(governed(nullptr), 1U);
  EXPECT_EQ(governed("1"), 1U);
  EXPECT_EQ(governed("0"), 0U);
  EXPECT_EQ(governed("2"), 1U);
  EXPECT_EQ(Settings{}.govern, 0U);  // of benchmarks, which compare algorithms
}

TEST(Settings, FingerprintFitsASignedNumber) {
  EXPECT_GT(static_cast<std::int64_t>(build_fingerprint()), 0);
}

// So that ranks which represent data differently leave everything to MPI, which converts.
TEST(Settings, FingerprintTellsRepresentationsApart) {
  const std::string own(data_representation());
  EXPECT_EQ(build_fingerprint(own), build_fingerprint());
  EXPECT_EQ(static_cast<std::size_t>(own.at(3)), sizeof(long));
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::string other = own;
    ++other[i];
    EXPECT_NE(build_fingerprint(other), build_fingerprint()) << i;
  }
}

TEST(Settings, SayWhatIsWrongWithTheSelectionTable) {
  Environment environment;
  environment.table = "no/such/table.txt";
  Settings settings;
  EXPECT_EQ(settings_from(environment, settings), "SIBYL_TABLE: cannot read no/such/table.txt");
  EXPECT_EQ(settings.table.count, 0U);
}

TEST(Settings, RefuseFilesThatAreNoneAndSaySoInOneLine) {
  const std::string pipe = testing::TempDir() + "sibyl-settings-pipe";
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {{testing::TempDir(), "it is a directory"},
                                                       {pipe, "it is no regular file"},
                                                       {"/dev/zero", "it is no regular file"},
                                                       {"two\nlines", "two?lines"}};
  for (const auto& [path, part] : cases) {
    for (std::string Environment::* variable : {&Environment::table, &Environment::arrivals}) {
      Environment environment;
      environment.*variable = path;
      Settings settings;
      const std::string problem = settings_from(environment, settings);
      EXPECT_NE(problem.find("cannot read"), std::string::npos) << problem;
      EXPECT_NE(problem.find(part), std::string::npos) << problem;
      EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
    }
  }
  ::unlink(pipe.c_str());
}

}  // namespace
}  // namespace sibyl
