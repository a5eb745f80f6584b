// SPDX-License-Identifier: Apache-2.0
// The cost of malicious documents: time, memory, stack.
#include "object/type/limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "object/codec/yaml/yaml.h"
#include "object/testing/cost_meter.h"

namespace cox::yaml {
namespace {

// A whole request body; smaller with sanitizers.
constexpr size_t kBody = limits::kMaxBodyBytes / (kSlow > 1 ? 8 : 1);

// The maximum CPU time of a malicious body, relative to an ordinary one of the same size.
constexpr double kMaxRelativeTime = 10;

struct Parsed : Cost {
  std::string outcome;
};

Parsed MeasureParse(std::string_view text, bool strict) {
  Parsed parsed;
  static_cast<Cost&>(parsed) = Measure([&] {
    json::Strictness strictness;
    Result<Value> value = yaml::Parse(text, strict ? &strictness : nullptr);
    parsed.outcome = value.ok() ? "ok" : value.status().message().substr(0, 80);
  });
  return parsed;
}

// `head`, then `unit` repeated up to `size` bytes.
std::string Body(std::string_view unit, std::string_view head = "", size_t size = kBody) {
  std::string text(head);
  while (text.size() + unit.size() <= size) text += unit;
  return text;
}

// Each unit contains its index.
std::string Numbered(std::string_view head, std::string_view before, std::string_view after) {
  std::string text(head);
  text.reserve(kBody);
  for (int i = 0; text.size() + 40 < kBody; ++i) {
    text.append(before).append(std::to_string(i)).append(after);
  }
  return text;
}

std::string Deepening() {
  std::string text;
  for (int i = 0; text.size() + i + 4 < kBody; ++i) {
    text.append(i, ' ').append("a:\n");
  }
  return text;
}

std::string BillionLaughs() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    text += std::string(1, c) + "x: &" + c + " [";
    for (int i = 0; i < 9; ++i) text += std::string(i == 0 ? "" : ",") + "*" + char(c - 1);
    text += "]\n";
  }
  return text;
}

// One long string with many aliases: few nodes, many bytes.
std::string QuadraticBlowup() {
  std::string text = "a: &a " + std::string(kBody / 2, 'x') + "\nb: [";
  while (text.size() + 8 < kBody) text += "*a,1,";
  return text + "]\n";
}

std::string NestedAnchors() {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "[&a ";
  return text + "x, *a" + std::string(9000, ']');
}

// Each level has the maximum depth, and contains the previous one.
std::string DeepAliases() {
  std::string text = "a0: &a0 x\n";
  for (int i = 1; i <= 50; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " " + std::string(9000, '[') +
            "*a" + std::to_string(i - 1) + std::string(9000, ']') + "\n";
  }
  return text;
}

struct Hostile {
  std::string_view name;
  std::string (*make)();
};

constexpr Hostile kHostile[] = {
    {"flow sequences", [] { return Body("["); }},
    {"flow mappings", [] { return Body("{"); }},
    {"flow pairs", [] { return Body("[a: "); }},
    {"explicit keys in flow", [] { return Body("[? "); }},
    {"closed flow", [] { return Body("[]"); }},
    {"closing brackets", [] { return Body("]"); }},
    {"keys of keys", [] { return Body("[]:"); }},
    {"dashes", [] { return Body("- "); }},
    {"question marks", [] { return Body("? "); }},
    {"colons", [] { return Body(": "); }},
    {"deeper and deeper", [] { return Deepening(); }},
    {"many items", [] { return Body("-\n"); }},
    {"many numbers", [] { return Body("0,", "["); }},
    {"long flow under many brackets", [] { return Body("a,", std::string(9999, '[')); }},
    {"lines under many brackets", [] { return Body("a\n,", std::string(9999, '[')); }},
    {"keys of long lines", [] { return Body("[[]: 1,", "["); }},
    {"one key again and again", [] { return Body("a,", "{"); }},
    {"one key in lines", [] { return Body("a:\n"); }},
    {"many keys", [] { return Numbered("{", "", ","); }},
    {"many lines of keys", [] { return Numbered("", "k", ": v\n"); }},
    {"keys in falling order", [] { return Numbered("", "\x7A", ": v\n"); }},
    {"anchors", [] { return Numbered("[", "&a", " x,"); }},
    {"anchors and aliases", [] { return Numbered("[", "&a", " x,*a0,"); }},
    {"nested anchors", [] { return NestedAnchors(); }},
    {"aliases of nothing", [] { return Body("*a "); }},
    {"tags", [] { return Body("! "); }},
    {"tags on items", [] { return Body("!a x,", "["); }},
    {"ampersands", [] { return Body("&"); }},
    {"a long key", [] { return std::string(kBody, 'a'); }},
    {"a long quoted key", [] { return "\"" + std::string(kBody - 4, 'a') + "\": b"; }},
    {"quotes", [] { return Body("'"); }},
    {"open quote", [] { return Body("a\n\n", "\""); }},
    {"escapes", [] { return Body("\\u0041", "\""); }},
    {"comments", [] { return Body("#\n"); }},
    {"blank lines", [] { return Body("\n"); }},
    {"blank lines in a text", [] { return Body("\n", "a: |\n x"); }},
    {"spaces", [] { return Body(" "); }},
    {"tag directives", [] { return Numbered("", "%TAG !a", "! x\n"); }},
    {"a long tag prefix",
     [] {
       return "%TAG !a! " + std::string(kBody / 3, 'x') + "\n--- [" +
              Body("!a!b ,").substr(kBody / 2) + "]";
     }},
    {"documents", [] { return Body("---\n"); }},
    {"merges", [] { return Body("<<: {a: 1}\n"); }},
    {"billion laughs", [] { return BillionLaughs(); }},
    {"quadratic blowup", [] { return QuadraticBlowup(); }},
    {"deep aliases", [] { return DeepAliases(); }},
};

// Typical manifests, a quarter of a request body.
std::string OrdinaryManifests() {
  return Body(
      "- apiVersion: v1\n"
      "  kind: ConfigMap\n"
      "  metadata:\n"
      "    name: settings\n"
      "    labels: {app: web, tier: front}\n"
      "  data:\n"
      "    address: \"10.0.0.1:8080\"\n"
      "    replicas: 3\n"
      "    banner: |\n"
      "      The first line of a text,\n"
      "      and the second one.\n",
      "", kBody / 4);
}

// The CPU time to parse `text`, divided by the time for a whole request body of ordinary manifests.
// A busy machine slows both, so they are measured one after the other; the result is the smallest
// of three ratios.
double RelativeTime(std::string_view text, bool strict, std::string_view ordinary, Parsed* cost) {
  const double per_body = static_cast<double>(kBody) / static_cast<double>(ordinary.size());
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3 && best > kMaxRelativeTime; ++i) {
    *cost = MeasureParse(text, strict);
    best = std::min(best, cost->seconds / (MeasureParse(ordinary, strict).seconds * per_body));
  }
  return best;
}

TEST(Limits, HostileBodiesEndInTimeAndMemory) {
  const std::string ordinary = OrdinaryManifests();
  ASSERT_EQ(MeasureParse(ordinary, /*strict=*/true).outcome, "ok");
  for (const Hostile& hostile : kHostile) {
    std::string text = hostile.make();
    for (bool strict : {false, true}) {
      SCOPED_TRACE(std::string(hostile.name) + (strict ? ", strict" : ""));
      Parsed cost;
      const double relative_time = RelativeTime(text, strict, ordinary, &cost);
      auto body = static_cast<double>(std::max(text.size(), size_t{1} << 20));
      EXPECT_LE(relative_time, kMaxRelativeTime) << cost.outcome;
      if (kSlow == 1) {
        EXPECT_LE(static_cast<double>(cost.resident) / body, 16) << cost.outcome;
      }
      if (std::getenv("COX_PRINT_COSTS") != nullptr) {
        std::printf("%-32s %s %.3f s, %5.2f x ordinary, heap %5.1f x, resident %5.1f x  %s\n",
                    std::string(hostile.name).c_str(), strict ? "strict" : "      ", cost.seconds,
                    relative_time, static_cast<double>(cost.bytes) / body,
                    static_cast<double>(cost.resident) / body, cost.outcome.c_str());
      }
    }
  }
}

TEST(Limits, SmallDocumentsNeedLittleMemory) {
  std::string cases[] = {
      std::string(128, '['),
      std::string(128, '{'),
      std::string(128, '-'),
      Body("- ").substr(0, 128),
      Body("a: ").substr(0, 128),
      Body("{a: ").substr(0, 128),
      Body("[? ").substr(0, 128),
      Body("[a,").substr(0, 128),
      Body("- a\n").substr(0, 128),
      Body("-\n").substr(0, 128),
      Body("a,", "[").substr(0, 127) + "]",
      Numbered("{", "", ",").substr(0, 127) + "}",
      Body("&a ").substr(0, 128),
      Body("[&a ").substr(0, 128),
      "[&a [1,1,1,1,1,1,1],&b [*a,*a,*a,*a,*a],&c [*b,*b,*b],*c]",
      "%TAG !a! " + std::string(100, 'x'),
      "a: |\n " + std::string(120, '\n'),
  };
  for (const std::string& text : cases) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_LE(text.size(), 128u);
    EXPECT_LE(MeasureParse(text, false).bytes, 16 * 1024);
    EXPECT_LE(MeasureParse(text, true).bytes, 16 * 1024);
    if (std::getenv("COX_PRINT_COSTS") != nullptr) {
      std::printf("%-24s %ld\n", text.substr(0, 20).c_str(),
                  static_cast<long>(MeasureParse(text, true).bytes));
    }
  }
}

TEST(Limits, DepthIsLimited) {
  auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Parse(nested(limits::kMaxDepth)).ok());
  EXPECT_EQ(Parse(nested(limits::kMaxDepth + 1)).status().message(),
            "yaml: exceeded max depth of 10000");
  auto dashes = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "- ";
    return text;
  };
  EXPECT_TRUE(Parse(dashes(limits::kMaxDepth)).ok());
  EXPECT_EQ(Parse(dashes(limits::kMaxDepth + 1)).status().message(),
            "yaml: exceeded max depth of 10000");
  // Blocks and flow combined, which upstream's JSON decoder would reject.
  EXPECT_EQ(Parse(dashes(6000) + nested(6000)).status().message(),
            "yaml: exceeded max depth of 10000");
}

TEST(Limits, DeepValuesRoundTrip) {
  std::string text = std::string(5000, '[') + "{a: [1]}" + std::string(5000, ']');
  Result<Value> value = Parse(text);
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  Result<Value> again = Parse(Write(*value));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, *value);
}

TEST(Limits, ShareOfAliasesIsLimited) {
  auto document = [](int plain, int aliases) {
    std::string text = "[&a [1,1,1,1,1,1,1,1,1]";
    for (int i = 0; i < plain; ++i) text += ",1";
    for (int i = 0; i < aliases; ++i) text += ",*a";
    return text + "]";
  };
  EXPECT_TRUE(Parse(document(100, 1000)).ok());
  EXPECT_TRUE(Parse(document(0, 90)).ok());
  EXPECT_EQ(Parse(BillionLaughs()).status().message(),
            "yaml: document contains excessive aliasing");
  EXPECT_EQ(Parse(QuadraticBlowup()).status().message(),
            "yaml: document contains excessive aliasing");
  EXPECT_EQ(Parse(DeepAliases()).status().message(), "yaml: exceeded max depth of 10000");
}

}  // namespace
}  // namespace cox::yaml
