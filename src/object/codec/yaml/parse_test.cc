// SPDX-License-Identifier: Apache-2.0
// The results and errors of parsing. The expected values are those of sigs.k8s.io/yaml v1.6:
// YAMLToJSON, or YAMLToJSONStrict for duplicate keys.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"

namespace cox::yaml {
namespace {

using std::string_view_literals::operator""sv;

struct Case {
  std::string_view text;
  std::string_view expected;
};

std::string Answer(std::string_view text, json::Strictness* strict = nullptr) {
  Result<Value> value = yaml::Parse(text, strict);
  if (!value.ok()) return value.status().message();
  return strict != nullptr && !strict->errors.empty() ? strict->errors[0] : json::Write(*value);
}

template <size_t n>
void Check(const Case (&cases)[n], bool ok) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    Result<Value> value = yaml::Parse(c.text);
    EXPECT_EQ(value.ok(), ok);
    EXPECT_EQ(value.status().Is(Reason::kBadRequest), !ok);
    if (value.ok()) {
      EXPECT_EQ(*value, *json::Parse(c.expected)) << json::Write(*value);
    } else {
      EXPECT_EQ(value.status().message(), c.expected);
    }
  }
}

constexpr Case kScalars[] = {
    {"a: 1.0", "{\"a\":1}"},
    {"a: 1e3", "{\"a\":1000}"},
    {"a: -0.0", "{\"a\":-0}"},
    {"a: 18446744073709551615", "{\"a\":18446744073709551615}"},
    {"a: 18446744073709551616", "{\"a\":18446744073709552000}"},
    {"a: y", "{\"a\":true}"},
    {"a: yes", "{\"a\":true}"},
    {"a: on", "{\"a\":true}"},
    {"a: Off", "{\"a\":false}"},
    {"a: 0o17", "{\"a\":15}"},
    {"a: 017", "{\"a\":15}"},
    {"a: 0x1F", "{\"a\":31}"},
    {"a: 0b11", "{\"a\":3}"},
    {"a: 1_000", "{\"a\":1000}"},
    {"a: 1_0.5", "{\"a\":10.5}"},
    {"a: 2001-01-01", "{\"a\":\"2001-01-01\"}"},
    {"a: 1:30", "{\"a\":\"1:30\"}"},
    {"a: 190:20:30", "{\"a\":\"190:20:30\"}"},
    {"a: 1:30.5", "{\"a\":\"1:30.5\"}"},
    {"a: +1", "{\"a\":1}"},
    {"a: +0x1", "{\"a\":1}"},
    {"a: -0b1", "{\"a\":-1}"},
    {"a: 0.", "{\"a\":0}"},
    {"a: .5", "{\"a\":0.5}"},
    {"a: 1.", "{\"a\":1}"},
    {"a: 1e", "{\"a\":\"1e\"}"},
    {"a: 1e400", "{\"a\":\"1e400\"}"},
    {"a: 0b", "{\"a\":\"0b\"}"},
    {"a: 0x", "{\"a\":\"0x\"}"},
    {"a: 08", "{\"a\":8}"},
    {"a: 0_8", "{\"a\":8}"},
    {"a: 9223372036854775808", "{\"a\":9223372036854775808}"},
    {"a: -9223372036854775808", "{\"a\":-9223372036854775808}"},
    {"a: -9223372036854775809", "{\"a\":-9223372036854776000}"},
    {"a: ~", "{\"a\":null}"},
    {"a: Null", "{\"a\":null}"},
    {"a: NULL", "{\"a\":null}"},
    {"a: nuLL", "{\"a\":\"nuLL\"}"},
    {"a: TRUE", "{\"a\":true}"},
    {"a: tRUE", "{\"a\":\"tRUE\"}"},
    {"a: <<", "{\"a\":\"\\u003c\\u003c\"}"},
    {"a: 'it''s'", "{\"a\":\"it's\"}"},
    {"a: 0x8000000000000000", "{\"a\":9223372036854775808}"},
    {"a: 0xFFFFFFFFFFFFFFFFF", "{\"a\":\"0xFFFFFFFFFFFFFFFFF\"}"},
    {"a: 0b1111111111111111111111111111111111111111111111111111111111111111",
     "{\"a\":18446744073709551615}"},
    {"a: .5e3", "{\"a\":500}"},
    {"a: 1e3.5", "{\"a\":\"1e3.5\"}"},
    {"a: 0o8", "{\"a\":\"0o8\"}"},
    {"a: 0777", "{\"a\":511}"},
    {"a: 00", "{\"a\":0}"},
    {"a: 1_", "{\"a\":1}"},
    {"a: _1", "{\"a\":\"_1\"}"},
    {"a: 0.1_1", "{\"a\":0.11}"},
    {"a: =", "{\"a\":\"=\"}"},
    {"a: 1.7976931348623157e309", "{\"a\":\"1.7976931348623157e309\"}"},
    {"a: \"\\e\\_\\N\\L\\P\\0\\a\\b\\v\"",
     "{\"a\":\"\\u001b\xC2\xA0\xC2\x85\\u2028\\u2029\\u0000\\u0007\\b\\u000b\"}"},
    {"a: \"\\\\ \\\" \\t\"", "{\"a\":\"\\\\ \\\" \\t\"}"},
    {"a: ._5", "{\"a\":\"._5\"}"},
    {"a: .5_5", "{\"a\":0.55}"},
    {"a: .", "{\"a\":\".\"}"},
    {"a: .e3", "{\"a\":\".e3\"}"},
    {"a: -.5", "{\"a\":-0.5}"},
    {"a: -.5_0", "{\"a\":-0.5}"},
    {"a: 0x_1", "{\"a\":1}"},
    {"a: _0", "{\"a\":\"_0\"}"},
    {"a: 1__0", "{\"a\":10}"},
    {"a: +", "{\"a\":\"+\"}"},
    {"a: +a", "{\"a\":\"+a\"}"},
    {"a: 0b12", "{\"a\":\"0b12\"}"},
    {"a: 0b1_1", "{\"a\":3}"},
    {"a: -0b", "{\"a\":\"-0b\"}"},
    {"a: 0B1", "{\"a\":1}"},
    {"a: 0X1", "{\"a\":1}"},
    {"a: 0O7", "{\"a\":7}"},
    {"a: 1E5", "{\"a\":100000}"},
    {"a: 1.5E-5", "{\"a\":0.000015}"},
    {"a: 0x1p-2", "{\"a\":\"0x1p-2\"}"},
    {"a: 1e-400", "{\"a\":0}"},
    {"a: 123456789012345678901234567890", "{\"a\":1.2345678901234568e+29}"},
    {"a: 0.1e", "{\"a\":\"0.1e\"}"},
    {"a: -_", "{\"a\":\"-_\"}"},
    {"a: 1 2", "{\"a\":\"1 2\"}"},
    {"a: infinity", "{\"a\":\"infinity\"}"},
    {"a: .iNf", "{\"a\":\".iNf\"}"},
    {"a: NaN", "{\"a\":\"NaN\"}"},
    {"a: -0x8000000000000000", "{\"a\":-9223372036854775808}"},
    {"a: -0x8000000000000001", "{\"a\":\"-0x8000000000000001\"}"},
    {"a: -18446744073709551615", "{\"a\":-18446744073709552000}"},
    {"a: #c", "{\"a\":null}"},
    {"a: b #c", "{\"a\":\"b\"}"},
    {"a: b\t# c", "{\"a\":\"b\"}"},
    {"a: \tb", "{\"a\":\"b\"}"},
    {"a: b\xE2\x80\xA8  c", "{\"a\":\"b\\u2028c\"}"},
    {"a: \xEF\xBB\xBF"
     "b",
     "{\"a\":\"\xEF\xBB\xBF"
     "b\"}"},
    {"a: b\rc: d", "{\"a\":\"b\",\"c\":\"d\"}"},
    {"a: \xEF\xBF\xBD", "{\"a\":\"\xEF\xBF\xBD\"}"},
    {"a: 0b-1", "{\"a\":-1}"},
    {"a: 0b+1", "{\"a\":1}"},
    {"a: -0b-1", "{\"a\":\"-0b-1\"}"},
    {"a: .5e1_0", "{\"a\":5000000000}"},
    {"a: .5e_1", "{\"a\":\".5e_1\"}"},
    {"a: .5_", "{\"a\":\".5_\"}"},
    {"a: 0x-1", "{\"a\":\"0x-1\"}"},
    {"a: 0o-1", "{\"a\":\"0o-1\"}"},
    {"a: 0-1", "{\"a\":\"0-1\"}"},
    {"a: \"\\'\"", "{\"a\":\"'\"}"},
    {"a: 2001-1-1", "{\"a\":\"2001-1-1\"}"},
};

TEST(Parse, ScalarsFollowYaml11) { Check(kScalars, true); }

constexpr Case kTags[] = {
    {"a: !!timestamp 2001-01-01", "{\"a\":\"2001-01-01\"}"},
    {"!!timestamp 2001-01-01: a", "{\"2001-01-01\":\"a\"}"},
    {"a: !!binary aGVsbG8=", "{\"a\":\"hello\"}"},
    {"a: !!binary gIA=", "{\"a\":\"\\ufffd\\ufffd\"}"},
    {"a: !!str 1", "{\"a\":\"1\"}"},
    {"a: !!int '1'", "{\"a\":1}"},
    {"a: !!float 1", "{\"a\":1}"},
    {"a: !!bool yes", "{\"a\":true}"},
    {"a: !!null ''", "{\"a\":null}"},
    {"a: !foo bar", "{\"a\":\"bar\"}"},
    {"a: !!foo bar", "{\"a\":\"bar\"}"},
    {"a: !!map {b: 1}", "{\"a\":{\"b\":1}}"},
    {"a: !!seq [1]", "{\"a\":[1]}"},
    {"a: !!set {b}", "{\"a\":{\"b\":null}}"},
    {"a: !", "{\"a\":\"\"}"},
    {"a: ! x", "{\"a\":\"x\"}"},
    {"a: ! 1", "{\"a\":\"1\"}"},
    {"a: !foo 1", "{\"a\":\"1\"}"},
    {"a: !!foo 1", "{\"a\":\"1\"}"},
    {"a: !foo 'x'", "{\"a\":\"x\"}"},
    {"a: !<tag:yaml.org,2002:int> 1", "{\"a\":1}"},
    {"%TAG ! tag:yaml.org,2002:\n---\na: !int '1'", "{\"a\":1}"},
    {"%TAG !e! tag:yaml.org,2002:\n---\na: !e!int '1'", "{\"a\":1}"},
    {"a: !!float '1.5'", "{\"a\":1.5}"},
    {"a: !!str [a]", "{\"a\":[\"a\"]}"},
    {"a: !!int {b: 1}", "{\"a\":{\"b\":1}}"},
    {"a: !!map 1", "{\"a\":\"1\"}"},
    {"a: !!seq {}", "{\"a\":{}}"},
    {"a: !!binary [x]", "{\"a\":[\"x\"]}"},
    {"a: !!str ~", "{\"a\":\"~\"}"},
    {"a: !!merge x", "{\"a\":\"x\"}"},
    {"!!merge <<: {a: 1}", "{\"a\":1}"},
    {"!!str <<: {a: 1}", "{\"\\u003c\\u003c\":{\"a\":1}}"},
    {"! <<: {a: 1}", "{\"a\":1}"},
    {"!!str !!int c", "\"\""},
    {"&a !!str c", "\"c\""},
    {"!!str &a c", "\"c\""},
    {"!!a!b c", "\"c\""},
    {"!a%41 c", "\"c\""},
    {"a: !!int 18446744073709551615", "{\"a\":18446744073709551615}"},
    {"a: !!float 1_0", "{\"a\":10}"},
    {"a: !!binary ''", "{\"a\":\"\"}"},
    {"a: !!binary \"aGVs\\nbG8=\"", "{\"a\":\"hello\"}"},
    {"a: !!timestamp 2001-1-1 1:2:3", "{\"a\":\"2001-1-1 1:2:3\"}"},
    {"a: !!timestamp 2001-1-1T1:2:3Z", "{\"a\":\"2001-1-1T1:2:3Z\"}"},
    {"a: !!timestamp 2001-1-1t1:2:3+01:00", "{\"a\":\"2001-1-1t1:2:3+01:00\"}"},
    {"a: !!timestamp 2001-1-1 1:2:3.5", "{\"a\":\"2001-1-1 1:2:3.5\"}"},
    {"a: !!timestamp 2001-1-1T01:02:03,5Z", "{\"a\":\"2001-1-1T01:02:03,5Z\"}"},
    {"a: !!timestamp 2001-1-1T1:2:3-00:00", "{\"a\":\"2001-1-1T1:2:3-00:00\"}"},
    {"a: !!timestamp 0000-1-1", "{\"a\":\"0000-1-1\"}"},
    {"a: !!timestamp 2001-1-1T1:2:3+24:00", "{\"a\":\"2001-1-1T1:2:3+24:00\"}"},
    {"a: !!timestamp 2001-1-1T1:2:3+23:60", "{\"a\":\"2001-1-1T1:2:3+23:60\"}"},
};

TEST(Parse, TagsDefineTheTypeOfScalars) { Check(kTags, true); }

constexpr Case kStructure[] = {
    {"1.5: x", "{\"1.5\":\"x\"}"},
    {"1e3: x", "{\"1000\":\"x\"}"},
    {".inf: x", "{\".inf\":\"x\"}"},
    {"true: 1", "{\"true\":1}"},
    {"yes: 1", "{\"true\":1}"},
    {"y: 1", "{\"true\":1}"},
    {"a: 1\na: 2", "{\"a\":2}"},
    {"a: 1\nb: 2\na: 3\nb: 3", "{\"a\":3,\"b\":3}"},
    {"<<: {a: 1}\na: 2", "{\"a\":2}"},
    {"a: 2\n<<: {a: 1}", "{\"a\":1}"},
    {"<<: [{a: 1},{a: 2,b: 3}]\nc: 1", "{\"a\":1,\"b\":3,\"c\":1}"},
    {"x: &x {a: 1}\ny:\n  <<: *x\n  a: 3", "{\"true\":{\"a\":3},\"x\":{\"a\":1}}"},
    {"%YAML 1.1\n---\na: 1", "{\"a\":1}"},
    {"--- a\n--- b", "\"a\""},
    {"a: 1\n---\nb: 2", "{\"a\":1}"},
    {"", "null"},
    {"---", "null"},
    {"# c", "null"},
    {"'<<': {a: 1}", "{\"\\u003c\\u003c\":{\"a\":1}}"},
    {"a: >-\n  x\n  y\n\n  z", "{\"a\":\"x y\\nz\"}"},
    {"? a\n: b", "{\"a\":\"b\"}"},
    {"{a: 1, b}", "{\"a\":1,\"b\":null}"},
    {"[a: b]", "[{\"a\":\"b\"}]"},
    {"[? a]", "[{\"a\":null}]"},
    {"{? a: b}", "{\"a\":\"b\"}"},
    {"[a:b, http://x]", "[\"a:b\",\"http://x\"]"},
    {"{a:1}", "{\"a:1\":null}"},
    {"{'a':1}", "{\"a\":1}"},
    {"{\"a\":1}", "{\"a\":1}"},
    {"[-]", "[\"-\"]"},
    {"[a, -b]", "[\"a\",\"-b\"]"},
    {"&a a: *a", "{\"a\":\"a\"}"},
    {"\xFF\xFE"
     "a\x00:\x00 \x00"
     "b\x00"sv,
     "{\"a\":\"b\"}"},
    {"\xEF\xBB\xBF"
     "a: b",
     "{\"a\":\"b\"}"},
    {"? |\n a\n: b", "{\"a\\n\":\"b\"}"},
    {"=: a", "{\"=\":\"a\"}"},
    {"a: \"x\\\n  y\"", "{\"a\":\"xy\"}"},
    {"a: 1\na:\n  2", "{\"a\":2}"},
    {"a: 1\na:\n  b: 1", "{\"a\":{\"b\":1}}"},
    {"1: a\n1: b", "{\"1\":\"b\"}"},
    {"1.5: a\n1.5: b", "{\"1.5\":\"b\"}"},
    {"true: a\nyes: b", "{\"true\":\"b\"}"},
    {"x: &x {a: 1, a: 2}\nb: *x", "{\"b\":{\"a\":2},\"x\":{\"a\":2}}"},
    {"b: &x\n  q: 1\nc:\n  q: 2\n  <<: *x", "{\"b\":{\"q\":1},\"c\":{\"q\":1}}"},
    {"a: 1\n'a': 2", "{\"a\":2}"},
    {"a: {b: 1, b: 2}\na: 3", "{\"a\":3}"},
    {"a: b\n...\nc: [", "{\"a\":\"b\"}"},
    {"[a]\n}", "[\"a\"]"},
    {"a: 'x\n\n  y'", "{\"a\":\"x\\ny\"}"},
    {"a: >\n\n x", "{\"a\":\"\\nx\"}"},
    {"a: |+\n x\n\n", "{\"a\":\"x\\n\\n\"}"},
    {"a: |-\n x\n\n", "{\"a\":\"x\"}"},
    {"a: |2-\n   x", "{\"a\":\" x\"}"},
    {"a: |-2\n   x", "{\"a\":\" x\"}"},
    {"a: | #c\n x", "{\"a\":\"x\"}"},
    {"a: |#c\n x", "{\"a\":\"x\"}"},
    {"-", "[null]"},
    {"- ", "[null]"},
    {"-\n-", "[null,null]"},
    {"a:", "{\"a\":null}"},
    {"a:#c", "\"a:#c\""},
    {"a #c", "\"a\""},
    {"? a", "{\"a\":null}"},
    {"? a\n? b", "{\"a\":null,\"b\":null}"},
    {"a:\n- b\n- c\nd: e", "{\"a\":[\"b\",\"c\"],\"d\":\"e\"}"},
    {"[a b]", "[\"a b\"]"},
    {"{a, }", "{\"a\":null}"},
    {"[a, ]", "[\"a\"]"},
    {"&a", "null"},
    {"&a\nb", "\"b\""},
    {"&a &b c", "null"},
    {"&a *a", "null"},
    {"a: &a b\nc: *a", "{\"a\":\"b\",\"c\":\"b\"}"},
    {"a: &a\nb: *a", "{\"a\":null,\"b\":null}"},
    {"&a a: &b b\n*b : *a", "{\"a\":\"b\",\"b\":\"a\"}"},
    {"'a' 'b'", "\"a\""},
    {"'a'\n'b'", "\"a\""},
    {"--- |\n a\n---", "\"a\\n\""},
    {"---\n---\na", "null"},
    {"--- --- a", "\"--- a\""},
    {"a\n...\nb", "\"a\""},
    {"#a\n#b\n", "null"},
    {"a: b\n# c\n  # d\n", "{\"a\":\"b\"}"},
    {"a:\tb", "{\"a\":\"b\"}"},
    {"a: b\n\xEF\xBB\xBF"
     "c: d",
     "{\"a\":\"b\",\"\xEF\xBB\xBF"
     "c\":\"d\"}"},
    {"\r\na: b\r\nc: d\r\n", "{\"a\":\"b\",\"c\":\"d\"}"},
    {"\xFE\xFF\x00"
     "a\x00:\x00 \x00"
     "b"sv,
     "{\"a\":\"b\"}"},
    {"a\n--- \nb\n---#x\nc\n--- # x\nd\n---x\ne\n --- \nf\n---\r\ng", "\"a\""},
    {"--- # x\n---\na", "null"},
    {"\n", "null"},
    {"a\n---", "\"a\""},
    {"--- a\n---\nb", "\"a\""},
    {"1000000.0: x", "{\"1e+06\":\"x\"}"},
    {"100000.5: x", "{\"100000.5\":\"x\"}"},
    {"1234567.0: x", "{\"1.234567e+06\":\"x\"}"},
    {"1e20: x", "{\"1e+20\":\"x\"}"},
    {"1e21: x", "{\"1e+21\":\"x\"}"},
    {"1e300: x", "{\".inf\":\"x\"}"},
    {"16777217.0: x", "{\"1.6777216e+07\":\"x\"}"},
    {"0.1: x", "{\"0.1\":\"x\"}"},
    {"0.00001: x", "{\"1e-05\":\"x\"}"},
    {"0.0001: x", "{\"0.0001\":\"x\"}"},
    {"-0.0: x", "{\"-0\":\"x\"}"},
    {".nan: x", "{\".nan\":\"x\"}"},
    {"-.inf: x", "{\"-.inf\":\"x\"}"},
    {"1000000.0: 1\n1000000.0: 2", "{\"1e+06\":2}"},
    {"[a: , b]", "[{\"a\":null},\"b\"]"},
    {"[a:, b]", "[\"a:\",\"b\"]"},
    {"{a:}", "{\"a:\":null}"},
    {"[a:]", "[\"a:\"]"},
    {"[? a : b]", "[{\"a\":\"b\"}]"},
    {"a: b\n \tc", "{\"a\":\"b c\"}"},
    {"a: \"b\\\n\n  c\"", "{\"a\":\"b\\nc\"}"},
};

TEST(Parse, BlocksFlowsAnchorsAndMerges) { Check(kStructure, true); }

constexpr Case kSyntax[] = {
    {"a: b: c", "yaml: mapping values are not allowed in this context"},
    {"a: [1", "yaml: line 1: did not find expected ',' or ']'"},
    {"a: {b", "yaml: line 1: did not find expected ',' or '}'"},
    {"a: 'x", "yaml: found unexpected end of stream"},
    {"a: \"x", "yaml: found unexpected end of stream"},
    {"a:\n\tb: 1", "yaml: line 2: found character that cannot start any token"},
    {"a: @x", "yaml: found character that cannot start any token"},
    {"a: `x", "yaml: found character that cannot start any token"},
    {"%YAML 1.2\n---\na: 1", "yaml: found incompatible YAML document"},
    {"- 1\nb: 2", "yaml: line 1: did not find expected '-' indicator"},
    {"a: 1\n- b", "yaml: line 1: did not find expected key"},
    {"a: 1\n  b: 2", "yaml: line 2: mapping values are not allowed in this context"},
    {"a: \x01", "yaml: control characters are not allowed"},
    {"a: -", "yaml: block sequence entries are not allowed in this context"},
    {"a: ?", "yaml: mapping keys are not allowed in this context"},
    {"a: |\n  x\n y", "yaml: line 2: did not find expected key"},
    {"a: |9\n x", "yaml: line 1: did not find expected key"},
    {"a: |0\n x", "yaml: found an indentation indicator equal to 0"},
    {"a: \"\\x41\\u00e9\\U0001F600\\e\\_\\N\\L\\P\\/\\0\"", "yaml: found unknown escape character"},
    {"a: \"\\q\"", "yaml: found unknown escape character"},
    {"a: \"\\ud800\"", "yaml: found invalid Unicode character escape code"},
    {"a: \xFF", "yaml: invalid leading UTF-8 octet"},
    {"a: !e!int 1", "yaml: found undefined tag handle"},
    {"a: \"\\/\"", "yaml: found unknown escape character"},
    {"a: \"\\x4\"", "yaml: did not find expected hexdecimal number"},
    {"~: a\nb: [", "yaml: line 2: did not find expected node content"},
    {"a: 1\n}", "yaml: line 1: did not find expected key"},
    {"a\nb: c", "yaml: line 2: mapping values are not allowed in this context"},
    {"a: b\n c: d", "yaml: line 2: mapping values are not allowed in this context"},
    {"a: \"x\n--- \ny\"", "yaml: line 2: found unexpected document indicator"},
    {"a: |\n\tx", "yaml: line 2: found a tab character where an indentation space is expected"},
    {"a: |-x\n", "yaml: did not find expected comment or line break"},
    {"- a\n-b", "yaml: line 3: could not find expected ':'"},
    {": a", "yaml: did not find expected key"},
    {": ", "yaml: did not find expected key"},
    {"a:\n- b\n c: d", "yaml: line 3: mapping values are not allowed in this context"},
    {"[a, b", "yaml: line 1: did not find expected ',' or ']'"},
    {"[a, , b]", "yaml: did not find expected node content"},
    {"[,]", "yaml: did not find expected node content"},
    {"{,}", "yaml: did not find expected node content"},
    {"{a: b, c", "yaml: line 1: did not find expected ',' or '}'"},
    {"]", "yaml: did not find expected node content"},
    {"}", "yaml: did not find expected node content"},
    {"{]", "yaml: did not find expected node content"},
    {"[}", "yaml: did not find expected node content"},
    {",", "yaml: did not find expected node content"},
    {"a: ]", "yaml: did not find expected node content"},
    {"a: ,b", "yaml: did not find expected node content"},
    {"a: %b", "yaml: found character that cannot start any token"},
    {"%b", "yaml: found unknown directive name"},
    {"%FOO x\n---\na", "yaml: found unknown directive name"},
    {"%YAML 1.1\na", "yaml: line 1: did not find expected <document start>"},
    {"%YAML 1.1\n%YAML 1.1\n--- a", "yaml: line 1: found duplicate %YAML directive"},
    {"%YAML x\n---", "yaml: did not find expected version number"},
    {"%TAG ! x", "yaml: line 1: did not find expected <document start>"},
    {"%TAG x y\n---", "yaml: did not find expected '!'"},
    {"%TAG ! tag:x\n%TAG ! tag:y\n---\na", "yaml: line 1: found duplicate %TAG directive"},
    {"& a", "yaml: did not find expected alphabetic or numeric character"},
    {"&", "yaml: did not find expected alphabetic or numeric character"},
    {"* a", "yaml: did not find expected alphabetic or numeric character"},
    {"*", "yaml: did not find expected alphabetic or numeric character"},
    {"a: *", "yaml: did not find expected alphabetic or numeric character"},
    {"!<", "yaml: did not find expected tag URI"},
    {"!<>", "yaml: did not find expected tag URI"},
    {"!<x", "yaml: did not find the expected '>'"},
    {"!!", "yaml: did not find expected tag URI"},
    {"!a%zz c", "yaml: did not find URI escaped octet"},
    {"!a%ff c", "yaml: found an incorrect leading UTF-8 octet"},
    {"a: \"b\" c", "yaml: did not find expected key"},
    {"a: 'b' c", "yaml: did not find expected key"},
    {"a: 'b'\n 'c'", "yaml: line 1: did not find expected key"},
    {"... a", "yaml: did not find expected node content"},
    {"...\na", "yaml: did not find expected node content"},
    {"\ta: b", "yaml: found character that cannot start any token"},
    {"- \tb", "yaml: found character that cannot start any token"},
    {"-\tb", "yaml: found character that cannot start any token"},
    {"- \t- b", "yaml: found character that cannot start any token"},
    {"? \ta", "yaml: found character that cannot start any token"},
    {"a:\n  - b\n - c", "yaml: line 2: did not find expected key"},
    {"a:\n   b: c\n  d: e", "yaml: line 2: did not find expected key"},
    {"a\xE2\x80\xA8"
     "b: c",
     "yaml: line 2: mapping values are not allowed in this context"},
    {"a\xC2\x85"
     "b: c",
     "yaml: line 2: mapping values are not allowed in this context"},
    {"a\x00"
     "b"sv,
     "yaml: control characters are not allowed"},
    {"a: b\x00"sv, "yaml: control characters are not allowed"},
    {"a\x7F", "yaml: control characters are not allowed"},
    {"a: \xC2", "yaml: incomplete UTF-8 octet sequence"},
    {"a: \xE2\x80", "yaml: incomplete UTF-8 octet sequence"},
    {"a: \xC2x", "yaml: invalid trailing UTF-8 octet"},
    {"a: \xC0\x80", "yaml: invalid length of a UTF-8 sequence"},
    {"a: \xED\xA0\x80", "yaml: invalid Unicode character"},
    {"a: \xF8\x88", "yaml: invalid leading UTF-8 octet"},
    {"a: \xEF\xBF\xBE", "yaml: control characters are not allowed"},
    {"\xFF\xFE"
     "a",
     "yaml: incomplete UTF-16 character"},
    {"\xFF\xFE\x00\xD8"
     "a\x00"sv,
     "yaml: expected low surrogate area"},
    {"\xFF\xFE\x00\xDC"sv, "yaml: unexpected low surrogate area"},
    {"[a?b]", "yaml: did not find expected ',' or ']'"},
    {"[a?, b]", "yaml: did not find expected ',' or ']'"},
    {"[:a]", "yaml: did not find expected node content"},
    {"{:a}", "yaml: did not find expected node content"},
    {"[? : b]", "yaml: did not find expected ',' or ']'"},
    {"[? ]", "yaml: line 1: did not find expected ',' or ']'"},
    {"[?]", "yaml: line 1: did not find expected ',' or ']'"},
    {"[: b]", "yaml: did not find expected node content"},
    {"[!a,b]", "yaml: line 1: did not find expected ',' or ']'"},
    {"[!a]", "yaml: line 1: did not find expected ',' or ']'"},
    {"a: b\n\tc", "yaml: line 2: found a tab character that violates indentation"},
    {"- b\n\tc", "yaml: line 2: found a tab character that violates indentation"},
    {"- a\n- b: c\n  - d", "yaml: line 2: did not find expected key"},
};

TEST(Parse, SyntaxErrorsContainTheLine) { Check(kSyntax, false); }

constexpr Case kDecode[] = {
    {"[a]: b", "yaml: invalid map key: []interface {}{\"a\"}"},
    {"a: !!timestamp x", "yaml: cannot decode !!str `x` as a !!timestamp"},
    {"a: !!binary 'x y'", "yaml: !!binary value contains invalid base64 data"},
    {"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"},
    {"a: !!int 1.0", "yaml: cannot decode !!float `1.0` as a !!int"},
    {"a: !!null x", "yaml: cannot decode !!str `x` as a !!null"},
    {"<<: 1", "yaml: map merge requires map or sequence of maps as the value"},
    {"<<: [1]", "yaml: map merge requires map or sequence of maps as the value"},
    {"a: *x", "yaml: unknown anchor 'x' referenced"},
    {"&a [*a]", "yaml: anchor 'a' value contains itself"},
    {"a: &a [*a]", "yaml: anchor 'a' value contains itself"},
    {"? [a]\n: b", "yaml: invalid map key: []interface {}{\"a\"}"},
    {"*a : b", "yaml: unknown anchor 'a' referenced"},
    {"a: !!float x", "yaml: cannot decode !!str `x` as a !!float"},
    {"a: !!bool x", "yaml: cannot decode !!str `x` as a !!bool"},
    {"a: !!null 1", "yaml: cannot decode !!int `1` as a !!null"},
    {"{a: 1}: b", "yaml: invalid map key: map[interface {}]interface {}{\"a\":1}"},
    {"{[a]: b}", "yaml: invalid map key: []interface {}{\"a\"}"},
    {"a: !!float 18446744073709551615",
     "yaml: cannot decode !!int `18446744073709551615` as a !!float"},
    {"a: !!int 2001-01-01", "yaml: cannot decode !!str `2001-01-01` as a !!int"},
    {"a: !!binary aGVsbG8", "yaml: !!binary value contains invalid base64 data"},
    {"a: !!binary 'aGVs bG8='", "yaml: !!binary value contains invalid base64 data"},
    {"a: !!timestamp 2001-02-30", "yaml: cannot decode !!str `2001-02-30` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1 1:2:3Z",
     "yaml: cannot decode !!str `2001-1-1 1:2:3Z` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1 24:2:3",
     "yaml: cannot decode !!str `2001-1-1 24:2:3` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:3+1:00",
     "yaml: cannot decode !!str `2001-1-1T1:2:3+1:00` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:3",
     "yaml: cannot decode !!str `2001-1-1T1:2:3` as a !!timestamp"},
    {"a: !!timestamp 02001-1-1", "yaml: cannot decode !!str `02001-1-1` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1 1:2:3 +01:00",
     "yaml: cannot decode !!str `2001-1-1 1:2:3 +01:00` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:3+99:00",
     "yaml: cannot decode !!str `2001-1-1T1:2:3+99:00` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:3z",
     "yaml: cannot decode !!str `2001-1-1T1:2:3z` as a !!timestamp"},
    {"a: !!timestamp ' 2001-1-1'", "yaml: cannot decode !!str ` 2001-1-1` as a !!timestamp"},
    {"a: !!timestamp 2001-001-1", "yaml: cannot decode !!str `2001-001-1` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:60Z",
     "yaml: cannot decode !!str `2001-1-1T1:2:60Z` as a !!timestamp"},
    {"a: !!timestamp 2001-2-29", "yaml: cannot decode !!str `2001-2-29` as a !!timestamp"},
    {"a: !!timestamp 2001-1-1T1:2:3.Z",
     "yaml: cannot decode !!str `2001-1-1T1:2:3.Z` as a !!timestamp"},
    {"a: !!timestamp 2001-0-1", "yaml: cannot decode !!str `2001-0-1` as a !!timestamp"},
};

TEST(Parse, RejectsNodesThatCannotBeDecoded) { Check(kDecode, false); }

constexpr Case kNotJson[] = {
    {"18446744073709551615: a",
     "unsupported map key of type: uint64, key: 0xffffffffffffffff, value: \"a\""},
    {"null: a", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\""},
    {"~: {b: [1,x,{c: d}]}",
     "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface "
     "{}{\"b\":[]interface {}{1, \"x\", map[interface {}]interface {}{\"c\":\"d\"}}}"},
    {"a: .inf", "json: unsupported value: +Inf"},
    {"a: .nan", "json: unsupported value: NaN"},
    {"a: -.inf", "json: unsupported value: -Inf"},
    {"a: +.inf", "json: unsupported value: +Inf"},
    {"~: a\n~: b", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"b\""},
    {"18446744073709551615: a\n18446744073709551615: b",
     "unsupported map key of type: uint64, key: 0xffffffffffffffff, value: \"b\""},
    {"~: 1.5", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1.5"},
    {"~: .nan", "unsupported map key of type: %!s(<nil>), key: <nil>, value: NaN"},
    {"~: ~", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"},
    {"~: [~,true]",
     "unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{interface "
     "{}(nil), true}"},
    {"a: [.inf]\n~: b", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"b\""},
    {"a: .Inf", "json: unsupported value: +Inf"},
    {"a: +.INF", "json: unsupported value: +Inf"},
    {"?", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"},
    {"? ", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"},
    {"a: !!float .inf", "json: unsupported value: +Inf"},
    {"{? : b}", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"b\""},
};

TEST(Parse, RejectsValuesThatJsonCannotRepresent) { Check(kNotJson, false); }

constexpr Case kRepeated[] = {
    {"a: 1\na: 2", "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
    {"a: 1\nb: 2\na: 3\nb: 3",
     "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map\n  line 4: key \"b\" already "
     "set in map"},
    {"<<: {a: 1}\na: 2", "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
    {"a: 2\n<<: {a: 1}", "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
    {"<<: [{a: 1},{a: 2,b: 3}]\nc: 1",
     "yaml: unmarshal errors:\n  line 1: key \"a\" already set in map"},
    {"x: &x {a: 1}\ny:\n  <<: *x\n  a: 3",
     "yaml: unmarshal errors:\n  line 4: key \"a\" already set in map"},
    {"a: 1\na:\n  2", "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"},
    {"a: 1\na:\n  b: 1", "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"},
    {"1: a\n1: b", "yaml: unmarshal errors:\n  line 2: key 1 already set in map"},
    {"1.5: a\n1.5: b", "yaml: unmarshal errors:\n  line 2: key 1.5 already set in map"},
    {"~: a\n~: b", "yaml: unmarshal errors:\n  line 2: key <nil> already set in map"},
    {"true: a\nyes: b", "yaml: unmarshal errors:\n  line 2: key true already set in map"},
    {"18446744073709551615: a\n18446744073709551615: b",
     "yaml: unmarshal errors:\n  line 2: key 0xffffffffffffffff already set in map"},
    {"x: &x {a: 1, a: 2}\nb: *x",
     "yaml: unmarshal errors:\n  line 1: key \"a\" already set in map\n  line 1: key \"a\" already "
     "set in map"},
    {"b: &x\n  q: 1\nc:\n  q: 2\n  <<: *x",
     "yaml: unmarshal errors:\n  line 2: key \"q\" already set in map"},
    {"a: 1\n'a': 2", "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
    {"a: {b: 1, b: 2}\na: 3",
     "yaml: unmarshal errors:\n  line 1: key \"b\" already set in map\n  line 2: key \"a\" already "
     "set in map"},
    {"1000000.0: 1\n1000000.0: 2",
     "yaml: unmarshal errors:\n  line 2: key 1e+06 already set in map"},
};

TEST(Parse, StrictParsingReportsDuplicateKeys) {
  for (const Case& c : kRepeated) {
    SCOPED_TRACE(c.text);
    json::Strictness strict;
    EXPECT_EQ(Answer(c.text, &strict), c.expected);
    EXPECT_LE(strict.errors.size(), 1u);
  }
}

TEST(Parse, LongKeysNeedAQuestionMark) {
  std::string key(1030, 'x');
  EXPECT_EQ(Answer(key + ": a"), "yaml: mapping values are not allowed in this context");
  EXPECT_EQ(Answer("? " + key + "\n: a"), "{\"" + key + "\":\"a\"}");
}

TEST(Parse, IntegersKeepAllDigits) {
  EXPECT_TRUE(yaml::Parse("9223372036854775807")->is_int());
  EXPECT_TRUE(yaml::Parse("9223372036854775808")->is_double());
  EXPECT_TRUE(yaml::Parse("1.0")->is_int()) << "as JSON has it";
  EXPECT_TRUE(yaml::Parse("1.5")->is_double());
}

TEST(Documents, AreSplitAtLinesOfDashes) {
  auto cut = [](std::string_view text) {
    std::string out;
    Documents documents(text);
    for (std::string_view document; documents.Next(&document);) {
      out.append("<").append(document).append(">");
    }
    return out + documents.status().message();
  };
  EXPECT_EQ(cut("---\na\n---\n\n---\n# c\n---\nb"), "<---\na\n><\n><# c\n><b>");
  EXPECT_EQ(cut("a\n--- \nb\n---#x\nc\n--- # x\nd"), "<a\n><b\n><c\n><d>");
  EXPECT_EQ(cut("--- # x\n---\na"), "<--- # x\n><a>");
  EXPECT_EQ(cut(""), "");
  EXPECT_EQ(cut("\n"), "<\n>");
  EXPECT_EQ(cut("---"), "<--->");
  EXPECT_EQ(cut("a\n---"), "<a\n>");
  EXPECT_EQ(cut("a\n---\r\nb"), "<a\n><b>");
  EXPECT_EQ(cut("a\n---x\nb"), "invalid Yaml document separator: x");
  EXPECT_EQ(cut("a\n---\nb\n--- c"), "<a\n>invalid Yaml document separator: c");
}

TEST(Documents, ParseAllSkipsEmptyDocuments) {
  Result<std::vector<Value>> values = ParseAll("---\na: 1\n---\n# only a comment\n---\n---\n- b\n");
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  ASSERT_EQ(values->size(), 2u);
  EXPECT_EQ(json::Write((*values)[0]), "{\"a\":1}");
  EXPECT_EQ(json::Write((*values)[1]), "[\"b\"]");
  EXPECT_EQ(ParseAll("a: 1\n---\nb: [\n").status().message(),
            "yaml: line 1: did not find expected node content");
  EXPECT_FALSE(ParseAll("a: 1\n---x\n").ok());
}

}  // namespace
}  // namespace cox::yaml
