// SPDX-License-Identifier: Apache-2.0
#include "object/selector/labels.h"

#include <gtest/gtest.h>

#include <map>
#include <unordered_map>

namespace cox::labels {
namespace {

using Labels = std::map<std::string, std::string>;

const std::string kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const std::string kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string kLong(64, 'x');

Selector S(std::string_view text) {
  Result<Selector> selector = Selector::Parse(text);
  EXPECT_TRUE(selector.ok()) << text << ": " << selector.status().ToString();
  return selector.ok() ? *selector : Selector();
}

// The expected results are those of upstream's parser.
TEST(LabelSelector, ToStringIsCanonical) {
  struct Case {
    std::string text, canonical;
  };
  const Case kCases[] = {
      {"", ""},
      {"a", "a"},
      {"!a", "!a"},
      {"a=b", "a=b"},
      {"a==b", "a==b"},
      {"a!=b", "a!=b"},
      {"a in (b)", "a in (b)"},
      {"a in (b,c)", "a in (b,c)"},
      {"a in (c,b)", "a in (b,c)"},
      {"a in (b,b)", "a in (b)"},
      {"a notin (b,c)", "a notin (b,c)"},
      {"a>1", "a>1"},
      {"a<5", "a<5"},
      {"a > 1 , b < 5", "a>1,b<5"},
      {"x=a,y=b", "x=a,y=b"},
      {"y=b,x=a", "x=a,y=b"},
      {" x = a , y = b ", "x=a,y=b"},
      {"x=", "x="},
      {"x=,y=", "x=,y="},
      {"x!=", "x!="},
      {"x in (),y notin ()", "x in (),y notin ()"},
      {"x in (,)", "x in ()"},
      {"x in (a,)", "x in (,a)"},
      {"x in (,a)", "x in (,a)"},
      {"x in (a,,b)", "x in (,a,b)"},
      {"x notin ()", "x notin ()"},
      {"g notin (), h>1,h<5, exists", "exists,g notin (),h>1,h<5"},
      {"a in (x, y ),b", "a in (x,y),b"},
      {"in in (in)", "in in (in)"},
      {"in", "in"},
      {"notin", "notin"},
      {"notin=in", "notin=in"},
      {"in=in", "in=in"},
      {"!in", "!in"},
      {"! a", "!a"},
      {"a=b,c", "a=b,c"},
      {"a/b=c", "a/b=c"},
      {"A=B", "A=B"},
      {"a=b,!c", "a=b,!c"},
      {"\011a=b", "a=b"},
      {"a=b\012", "a=b"},
      {"a\015=b", "a=b"},
      {"a.b/c_d=e.f_g", "a.b/c_d=e.f_g"},
      {"a!=b,a!=c", "a!=b,a!=c"},
      {"a=b,a=c", "a=b,a=c"},
      {"b,a,!c", "a,b,!c"},
      {"a=1,a in (1,2),a", "a=1,a in (1,2),a"},
      {"a in (z,y,x),a notin (c,b)", "a in (x,y,z),a notin (b,c)"},
      {"a!=", "a!="},
      {"a !=b", "a!=b"},
      {"a=notin", "a=notin"},
      {"a=b, c in (d), !e, f!=g, h notin (i,j), k>3, l<4, m",
       "a=b,c in (d),!e,f!=g,h notin (i,j),k>3,l<4,m"},
      {"kubernetes.io/a=", "kubernetes.io/a="},
      {"a>9223372036854775807", "a>9223372036854775807"},
      {"a==", "a=="},
      {"a==,b", "a==,b"},
      {"! a,b", "!a,b"},
      {"a  in  ( b , c )", "a in (b,c)"},
      {"x in (,,,)", "x in ()"},
      {std::string("a,\0b", 4), "a,b"},
      {std::string("\0a", 2), ""},
      {std::string("a=\0", 3), "a="},
      {std::string("a=b\0,c=d", 8), "a=b,c=d"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(S(c.text).ToString(), c.canonical) << c.text;
    EXPECT_EQ(S(c.canonical), S(c.text)) << c.text;
  }
}

TEST(LabelSelector, ParseErrorsMatchUpstream) {
  struct Case {
    std::string text, error;
  };
  const Case kCases[] = {
      {"a in in", "unable to parse requirement: found 'in' expected: '('"},
      {"!!a", "unable to parse requirement: found '!', expected: identifier"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"a,", "found '', expected: identifier after ','"},
      {"a,,b", "found ',', expected: identifier after ','"},
      {",a", "found ',', expected: !, identifier, or 'end of string'"},
      {",", "found ',', expected: !, identifier, or 'end of string'"},
      {"=", "found '=', expected: !, identifier, or 'end of string'"},
      {"=a", "found '=', expected: !, identifier, or 'end of string'"},
      {"a=b=c", "found '=', expected: ',' or 'end of string'"},
      {"a==b==c", "found '==', expected: ',' or 'end of string'"},
      {"a===b", "unable to parse requirement: found '=', expected: identifier"},
      {"a=!b", "unable to parse requirement: found '!', expected: identifier"},
      {"a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a in", "unable to parse requirement: found '' expected: '('"},
      {"a in b", "unable to parse requirement: found 'b' expected: '('"},
      {"a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"},
      {"a in (b=c)", "unable to parse requirement: found '=', expected: ',' or ')'"},
      {"a in )", "unable to parse requirement: found ')' expected: '('"},
      {"a in (b))", "found ')', expected: ',' or 'end of string'"},
      {"a)", "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt"},
      {"(a)", "found '(', expected: !, identifier, or 'end of string'"},
      {"a>",
       "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the "
       "value must be an integer"},
      {"a>b",
       "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
      {"a>1.5",
       "unable to parse requirement: values[0]: Invalid value: \"1.5\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
      {"a<-1", "unable to parse requirement: values[0][a]: Invalid value: \"-1\": " + kValueRule},
      {"a>1 2", "found '2', expected: ',' or 'end of string'"},
      {"a in (b),", "found '', expected: identifier after ','"},
      {"a=b c", "found 'c', expected: ',' or 'end of string'"},
      {"a/b/c=d",
       "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key " +
           kNameRule +
           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
      {"-a", "unable to parse requirement: <nil>: Invalid value: \"-a\": name part " + kNameRule},
      {"a-", "unable to parse requirement: <nil>: Invalid value: \"a-\": name part " + kNameRule},
      {"a=-b", "unable to parse requirement: values[0][a]: Invalid value: \"-b\": " + kValueRule},
      {"a=b-", "unable to parse requirement: values[0][a]: Invalid value: \"b-\": " + kValueRule},
      {"a=" + kLong, "unable to parse requirement: values[0][a]: Invalid value: \"" + kLong +
                         "\": must be no more "
                         "than 63 bytes"},
      {kLong + "=a", "unable to parse requirement: <nil>: Invalid value: \"" + kLong +
                         "\": name part must be no more "
                         "than 63 bytes"},
      {"a=b!", "found '!', expected: ',' or 'end of string'"},
      {"a=(b)", "unable to parse requirement: found '(', expected: identifier"},
      {"a in (b) c", "found 'c', expected: ',' or 'end of string'"},
      {"a=>1", "unable to parse requirement: found '>', expected: identifier"},
      {"a<=1", "unable to parse requirement: found '=', expected: identifier"},
      {"a>=1", "unable to parse requirement: found '=', expected: identifier"},
      {"\303\251=b",
       "unable to parse requirement: <nil>: Invalid value: \"\303\251\": name part " + kNameRule},
      {"a=\303\251",
       "unable to parse requirement: values[0][a]: Invalid value: \"\303\251\": " + kValueRule},
      {"a=b;c=d",
       "unable to parse requirement: values[0][a]: Invalid value: \"b;c\": " + kValueRule},
      {"a;b", "unable to parse requirement: <nil>: Invalid value: \"a;b\": name part " + kNameRule},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a!", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"},
      {"a! =b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"},
      {std::string("a\000b", 3),
       "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a=\"b\"",
       "unable to parse requirement: values[0][a]: Invalid value: \"\\\"b\\\"\": " + kValueRule},
      {"a='b'", "unable to parse requirement: values[0][a]: Invalid value: \"'b'\": " + kValueRule},
      {"a={b}", "unable to parse requirement: values[0][a]: Invalid value: \"{b}\": " + kValueRule},
      {"a[0]=b",
       "unable to parse requirement: <nil>: Invalid value: \"a[0]\": name part " + kNameRule},
      {"example.com/=x",
       "unable to parse requirement: <nil>: Invalid value: \"example.com/\": name part must be "
       "non-empty; name part " +
           kNameRule},
      {"/a=x",
       "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty"},
      {"ex_ample.com/a=x",
       "unable to parse requirement: <nil>: Invalid value: \"ex_ample.com/a\": prefix part " +
           kSubdomainRule},
      {"a>9223372036854775808",
       "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', "
       "'Lt' operators, the value must be an integer"},
      {"a<0x1",
       "unable to parse requirement: values[0]: Invalid value: \"0x1\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
      {"x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"},
      {"a,b in (c", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a notin b", "unable to parse requirement: found 'b' expected: '('"},
      {"a notin", "unable to parse requirement: found '' expected: '('"},
      {"a not in (b)",
       "unable to parse requirement: found 'not', expected: in, notin, =, ==, !=, gt, lt"},
      {"a=b|c", "unable to parse requirement: values[0][a]: Invalid value: \"b|c\": " + kValueRule},
      {"x>1,z<5,y>=", "unable to parse requirement: found '=', expected: identifier"},
      {"()", "found '(', expected: !, identifier, or 'end of string'"},
      {"a in ((b))", "unable to parse requirement: found '(', expected: ',', ')' or identifier"},
      {"a>,b",
       "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the "
       "value must be an integer"},
      {"a in (b),c in", "unable to parse requirement: found '' expected: '('"},
      {"a=!", "unable to parse requirement: found '!', expected: identifier"},
      {"!a!", "found '!', expected: ',' or 'end of string'"},
      {"x in (a,=)", "unable to parse requirement: found '=', expected: ',', or identifier"},
      {"x in (a=", "unable to parse requirement: found '=', expected: ',' or ')'"},
      {"a in (b,)c", "found 'c', expected: ',' or 'end of string'"},
      {"x in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
  };
  for (const Case& c : kCases) {
    Result<Selector> selector = Selector::Parse(c.text);
    ASSERT_FALSE(selector.ok()) << c.text << " is " << selector->ToString();
    EXPECT_EQ(selector.status().message(), c.error) << c.text;
    EXPECT_TRUE(selector.status().Is(Reason::kBadRequest));
  }
}

TEST(LabelSelector, MatchesLabels) {
  const Labels kSets[] = {{},           {{"a", "1"}},  {{"a", "b"}},
                          {{"a", ""}},  {{"b", "c"}},  {{"a", "b"}, {"b", "c"}},
                          {{"a", "6"}}, {{"a", "x9"}}, {{"a", "007"}}};
  struct Case {
    std::string_view text;
    std::string_view matches;  // one digit per set
  };
  const Case kCases[] = {
      {"", "111111111"},
      {"a", "011101111"},
      {"!a", "100010000"},
      {"a=b", "001001000"},
      {"a!=b", "110110111"},
      {"a in (b,1)", "011001000"},
      {"a notin (b)", "110110111"},
      {"a notin ()", "111011111"},
      {"a in ()", "000100000"},
      {"a>1", "000000101"},
      {"a<7", "010000100"},
      {"a>5,a<8", "000000101"},
      {"a=,b", "000000000"},
      {"a=b,b=c", "000001000"},
      {"!b,a", "011100111"},
      {"a!=b,a", "010100111"},
  };
  for (const Case& c : kCases) {
    std::string matches;
    for (const Labels& set : kSets) matches += S(c.text).Matches(set) ? '1' : '0';
    EXPECT_EQ(matches, c.matches) << c.text;
  }
}

TEST(LabelSelector, MatchesMapsRangesAndCallables) {
  const Selector selector = S("a=b,!c");
  EXPECT_TRUE(selector.Matches(std::map<std::string, std::string, std::less<>>{{"a", "b"}}));
  EXPECT_TRUE(selector.Matches(std::unordered_map<std::string, std::string>{{"a", "b"}}));
  EXPECT_TRUE(
      selector.Matches(std::vector<std::pair<std::string_view, std::string_view>>{{"a", "b"}}));
  EXPECT_FALSE(
      selector.Matches(std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"c", ""}}));
  EXPECT_TRUE(selector.Matches([](std::string_view key) {
    return key == "a" ? std::optional<std::string_view>("b") : std::nullopt;
  }));
}

TEST(LabelSelector, RequiresExactMatchReturnsTheRequiredValue) {
  struct Case {
    std::string_view text, value;
    bool found;
  };
  const Case kCases[] = {
      {"a=b", "b", true},        {"a==b", "b", true}, {"a in (b)", "b", true},
      {"a in (b,c)", "", false}, {"a!=b", "", false}, {"a", "", false},
      {"a=b,a=c", "b", true},    {"", "", false},     {"b=c", "", false},
  };
  for (const Case& c : kCases) {
    const Selector selector = S(c.text);
    EXPECT_EQ(selector.RequiresExactMatch("a").has_value(), c.found) << c.text;
    EXPECT_EQ(selector.RequiresExactMatch("a").value_or(""), c.value) << c.text;
  }
}

TEST(LabelSelector, RequirementsAreValidated) {
  struct Case {
    std::string key;
    Operator op;
    std::vector<std::string> values;
    std::string error;
  };
  const Case kCases[] = {
      {"a",
       Operator::kIn,
       {},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"a",
       Operator::kEquals,
       {"b", "c"},
       "values: Invalid value: [\"b\",\"c\"]: exact-match compatibility requires one single value"},
      {"a",
       Operator::kExists,
       {"b"},
       "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist"},
      {"a",
       Operator::kGreaterThan,
       {"1", "2"},
       "values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is "
       "required"},
      {"a",
       Operator::kGreaterThan,
       {"x"},
       "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"},
      {"",
       Operator::kExists,
       {},
       "key: Invalid value: \"\": name part must be non-empty; name part " + kNameRule},
      {"a",
       Operator::kIn,
       {"-", "+"},
       "[values[0][a]: Invalid value: \"-\": " + kValueRule +
           ", values[1][a]: Invalid value: \"+\": " + kValueRule + "]"},
      {"a b",
       Operator::kIn,
       {"c d"},
       "[key: Invalid value: \"a b\": name part " + kNameRule +
           ", values[0][a b]: Invalid value: \"c d\": " + kValueRule + "]"},
      {"a b",
       Operator::kIn,
       {},
       "[key: Invalid value: \"a b\": name part " + kNameRule +
           ", values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
           "empty]"},
      {"a",
       Operator::kDoubleEquals,
       {},
       "values: Invalid value: null: exact-match compatibility requires one single value"},
      {"a",
       Operator::kNotEquals,
       {},
       "values: Invalid value: null: exact-match compatibility requires one single value"},
      {"a",
       Operator::kLessThan,
       {},
       "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required"},
      {"a",
       Operator::kDoesNotExist,
       {"x"},
       "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist"},
      {std::string(64, 'a'),
       Operator::kExists,
       {},
       "key: Invalid value: \"" + std::string(64, 'a') +
           "\": name part must be no more than 63 bytes"},
      {"a",
       Operator::kLessThan,
       {"1 "},
       "[values[0]: Invalid value: \"1 \": for 'Gt', 'Lt' operators, the value must be an integer, "
       "values[0][a]: Invalid value: \"1 \": " +
           kValueRule + "]"},
  };
  for (const Case& c : kCases) {
    Result<Requirement> requirement = Requirement::New(c.key, c.op, c.values);
    ASSERT_FALSE(requirement.ok()) << c.key;
    EXPECT_EQ(requirement.status().message(), c.error);
  }
  Result<Requirement> below =
      Requirement::New("a", Operator::kIn, {}, FieldPath("spec").Child("selector"));
  EXPECT_EQ(below.status().message(),
            "spec.selector.values: Invalid value: null: for 'in', 'notin' operators, values set "
            "can't be empty");
}

TEST(LabelSelector, EverythingAndNothing) {
  EXPECT_TRUE(Selector::Everything().Matches(Labels{}));
  EXPECT_TRUE(Selector::Everything().Empty());
  EXPECT_FALSE(Selector::Nothing().Matches(Labels{}));
  EXPECT_FALSE(Selector::Nothing().Empty());
  EXPECT_EQ(Selector::Nothing().ToString(), "");
  EXPECT_NE(Selector::Nothing(), Selector::Everything());
}

TEST(LabelSelector, FromSetSortsWithoutValidation) {
  const std::pair<std::string, std::string> kSet[] = {{"b", "1"}, {"a", "x y"}};
  EXPECT_EQ(Selector::FromSet(kSet).ToString(), "a=x y,b=1");
}

TEST(LabelSelector, AddKeepsTheOrder) {
  Selector selector = S("a=b,c");
  selector.Add(Requirement::New("b", Operator::kExists, {}).value());
  EXPECT_EQ(selector.ToString(), "a=b,b,c");
}

struct Expression {
  std::string key, operator_;
  std::vector<std::string> values;
};
struct ApiSelector {
  Labels matchLabels;
  std::vector<Expression> matchExpressions;
};

TEST(LabelSelector, ConvertsFromMetav1LabelSelector) {
  struct Case {
    ApiSelector in;
    std::string out;  // or the error
  };
  const Case kCases[] = {
      {{}, ""},
      {{{{"b", "c"}, {"a", "b"}}, {}}, "a=b,b=c"},
      {{{}, {{"z", "In", {"b", "a"}}}}, "z in (a,b)"},
      {{{{"a", "b"}}, {{"z", "NotIn", {"b", "a"}}, {"y", "Exists", {}}, {"x", "DoesNotExist", {}}}},
       "a=b,!x,y,z notin (a,b)"},
      {{{{"a", "b"}}, {{"a", "In", {"b"}}}}, "a=b,a in (b)"},
      {{{}, {{"z", "Gt", {"1"}}}}, "\"Gt\" is not a valid label selector operator"},
      {{{}, {{"z", "In", {}}}},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {{{{"a", "b c"}}, {}}, "values[0][a]: Invalid value: \"b c\": " + kValueRule},
      {{{}, {{"z", "Exists", {"1"}}}},
       "values: Invalid value: [\"1\"]: values set must be empty for exists and does not exist"},
      {{{}, {{"z z", "Exists", {}}}}, "key: Invalid value: \"z z\": name part " + kNameRule},
  };
  for (const Case& c : kCases) {
    Result<Selector> selector = Selector::FromLabelSelector(&c.in);
    EXPECT_EQ(selector.ok() ? selector->ToString() : selector.status().message(), c.out);
  }
  EXPECT_TRUE(Selector::FromLabelSelector<ApiSelector>(nullptr)->SelectsNothing());
  const ApiSelector empty;
  EXPECT_TRUE(Selector::FromLabelSelector(&empty)->Empty());
}

}  // namespace
}  // namespace cox::labels
