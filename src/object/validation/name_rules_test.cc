// SPDX-License-Identifier: Apache-2.0
#include "object/validation/names.h"

#include <gtest/gtest.h>

namespace cox::validation {
namespace {

// The expected results are upstream's. `broken` lists the expected messages, by index into
// kMessages.
struct Case {
  std::string text;
  std::string_view broken;
};

// "a.a.a...", with the given number of dots.
std::string Dots(size_t dots) {
  std::string out = "a";
  for (size_t i = 0; i < dots; ++i) out += ".a";
  return out;
}

void Expect(const Messages& got, const Case& c, const std::vector<std::string>& messages) {
  Messages want;
  for (char index : c.broken) want.push_back(messages.at(static_cast<size_t>(index - '0')));
  EXPECT_EQ(got, want) << c.text;
}

TEST(Names, IsFullyQualifiedName) {
  const std::vector<std::string> kMessages = {
      "Required value",
      "should be a domain with at least three segments separated by dots",
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "must be no more than 253 characters",
      "must be no more than 253 characters,a lowercase RFC 1123 subdomain must consist of lower "
      "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  };
  const Case kCases[] = {
      {"", "0"},
      {"a", "1"},
      {"a-b", "1"},
      {"a.b", "1"},
      {"A", "2"},
      {"-a", "2"},
      {"a-", "2"},
      {"a_b", "2"},
      {"1", "1"},
      {"1a", "1"},
      {"a..b", "2"},
      {".a", "2"},
      {"a.", "2"},
      {"a b", "2"},
      {"\303\251", "2"},
      {std::string(63, 'a'), "1"},
      {std::string(64, 'a'), "1"},
      {std::string(253, 'a'), "1"},
      {std::string(254, 'a'), "3"},
      {Dots(126), ""},
      {Dots(127), "3"},
      {"*", "2"},
      {"*.", "2"},
      {"*.a", "2"},
      {"*.a.b", "2"},
      {"a.*", "2"},
      {"*.*.a", "2"},
      {"*." + std::string(252, 'a'), "4"},
      {"a/b", "2"},
      {"a/b/c", "2"},
      {"/a", "2"},
      {"a/", "2"},
      {"A/b", "2"},
      {"a.b/C_d.e-f", "2"},
      {"a_b.c/d", "2"},
      {std::string(254, 'a') + "/b", "4"},
      {"a/" + std::string(64, 'b'), "2"},
      {"a/-", "2"},
      {".", "2"},
      {"..", "2"},
      {"..a", "2"},
      {"a..", "2"},
      {"a%b", "2"},
      {"_a", "2"},
      {"a:b", "2"},
      {"$(A)", "2"},
      {"FOO_BAR", "2"},
      {"foo.bar", "1"},
      {"1FOO", "2"},
      {"foo=bar", "2"},
      {"=", "2"},
      {std::string("a\000", 2), "2"},
      {"a\012", "2"},
      {"a\011", "2"},
      {"~", "2"},
      {"http", "1"},
      {"8080", "1"},
      {"http2", "1"},
      {"a--b", "1"},
      {"abcdefghijklmnop", "1"},
      {"abcdefghijklmno", "1"},
      {"HTTP", "2"},
      {"-", "2"},
      {"--", "2"},
      {"0x1", "1"},
      {"X-Header", "2"},
      {"X_H", "2"},
      {"X.H", "2"},
      {"X H", "2"},
      {"X:H", "2"},
      {"a\\b", "2"},
      {"example.com", "1"},
      {"example.com.", "2"},
      {"foo.example.com", ""},
      {"example", "1"},
      {"a.b.c", ""},
      {"a_b.c", "2"},
      {"@", "2"},
      {"a\377", "2"},
      {"1.a", "1"},
      {"a.1", "1"},
      {"1-1", "1"},
      {"aB", "2"},
  };
  for (const Case& c : kCases) {
    Messages details;
    for (const FieldError& e : IsFullyQualifiedName(FieldPath("f"), c.text)) {
      EXPECT_EQ(e.field, "f");
      details.push_back(e.type == FieldError::Type::kRequired ? e.Body() : e.detail);
    }
    Expect(details, c, kMessages);
  }
}

TEST(Names, IsFullyQualifiedDomainName) {
  const std::vector<std::string> kMessages = {
      "Required value",
      "should be a domain with at least two segments separated by dots",
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "must be no more than 253 characters",
      "must be no more than 253 characters,a lowercase RFC 1123 subdomain must consist of lower "
      "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  };
  const Case kCases[] = {
      {"", "0"},
      {"a", "1"},
      {"a-b", "1"},
      {"a.b", ""},
      {"A", "2"},
      {"-a", "2"},
      {"a-", "2"},
      {"a_b", "2"},
      {"1", "1"},
      {"1a", "1"},
      {"a..b", "2"},
      {".a", "2"},
      {"a.", "1"},
      {"a b", "2"},
      {"\303\251", "2"},
      {std::string(63, 'a'), "1"},
      {std::string(64, 'a'), "1"},
      {std::string(253, 'a'), "1"},
      {std::string(254, 'a'), "3"},
      {Dots(126), ""},
      {Dots(127), "3"},
      {"*", "2"},
      {"*.", "2"},
      {"*.a", "2"},
      {"*.a.b", "2"},
      {"a.*", "2"},
      {"*.*.a", "2"},
      {"*." + std::string(252, 'a'), "4"},
      {"a/b", "2"},
      {"a/b/c", "2"},
      {"/a", "2"},
      {"a/", "2"},
      {"A/b", "2"},
      {"a.b/C_d.e-f", "2"},
      {"a_b.c/d", "2"},
      {std::string(254, 'a') + "/b", "4"},
      {"a/" + std::string(64, 'b'), "2"},
      {"a/-", "2"},
      {".", "2"},
      {"..", "2"},
      {"..a", "2"},
      {"a..", "2"},
      {"a%b", "2"},
      {"_a", "2"},
      {"a:b", "2"},
      {"$(A)", "2"},
      {"FOO_BAR", "2"},
      {"foo.bar", ""},
      {"1FOO", "2"},
      {"foo=bar", "2"},
      {"=", "2"},
      {std::string("a\000", 2), "2"},
      {"a\012", "2"},
      {"a\011", "2"},
      {"~", "2"},
      {"http", "1"},
      {"8080", "1"},
      {"http2", "1"},
      {"a--b", "1"},
      {"abcdefghijklmnop", "1"},
      {"abcdefghijklmno", "1"},
      {"HTTP", "2"},
      {"-", "2"},
      {"--", "2"},
      {"0x1", "1"},
      {"X-Header", "2"},
      {"X_H", "2"},
      {"X.H", "2"},
      {"X H", "2"},
      {"X:H", "2"},
      {"a\\b", "2"},
      {"example.com", ""},
      {"example.com.", ""},
      {"foo.example.com", ""},
      {"example", "1"},
      {"a.b.c", ""},
      {"a_b.c", "2"},
      {"@", "2"},
      {"a\377", "2"},
      {"1.a", ""},
      {"a.1", ""},
      {"1-1", "1"},
      {"aB", "2"},
  };
  for (const Case& c : kCases) {
    Messages details;
    for (const FieldError& e : IsFullyQualifiedDomainName(FieldPath("f"), c.text)) {
      EXPECT_EQ(e.field, "f");
      details.push_back(e.type == FieldError::Type::kRequired ? e.Body() : e.detail);
    }
    Expect(details, c, kMessages);
  }
}

TEST(Names, IsDomainPrefixedPath) {
  const std::vector<std::string> kMessages = {
      "Required value",
      "must be a domain-prefixed path (such as \"acme.io/foo\")",
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "must be no more than 253 characters",
  };
  const Case kCases[] = {
      {"", "0"},
      {"a", "1"},
      {"a-b", "1"},
      {"a.b", "1"},
      {"A", "1"},
      {"-a", "1"},
      {"a-", "1"},
      {"a_b", "1"},
      {"1", "1"},
      {"1a", "1"},
      {"a..b", "1"},
      {".a", "1"},
      {"a.", "1"},
      {"a b", "1"},
      {"\303\251", "1"},
      {std::string(63, 'a'), "1"},
      {std::string(64, 'a'), "1"},
      {std::string(253, 'a'), "1"},
      {std::string(254, 'a'), "1"},
      {Dots(126), "1"},
      {Dots(127), "1"},
      {"*", "1"},
      {"*.", "1"},
      {"*.a", "1"},
      {"*.a.b", "1"},
      {"a.*", "1"},
      {"*.*.a", "1"},
      {"*." + std::string(252, 'a'), "1"},
      {"a/b", ""},
      {"a/b/c", ""},
      {"/a", "1"},
      {"a/", "1"},
      {"A/b", "2"},
      {"a.b/C_d.e-f", ""},
      {"a_b.c/d", "2"},
      {std::string(254, 'a') + "/b", "3"},
      {"a/" + std::string(64, 'b'), ""},
      {"a/-", ""},
      {".", "1"},
      {"..", "1"},
      {"..a", "1"},
      {"a..", "1"},
      {"a%b", "1"},
      {"_a", "1"},
      {"a:b", "1"},
      {"$(A)", "1"},
      {"FOO_BAR", "1"},
      {"foo.bar", "1"},
      {"1FOO", "1"},
      {"foo=bar", "1"},
      {"=", "1"},
      {std::string("a\000", 2), "1"},
      {"a\012", "1"},
      {"a\011", "1"},
      {"~", "1"},
      {"http", "1"},
      {"8080", "1"},
      {"http2", "1"},
      {"a--b", "1"},
      {"abcdefghijklmnop", "1"},
      {"abcdefghijklmno", "1"},
      {"HTTP", "1"},
      {"-", "1"},
      {"--", "1"},
      {"0x1", "1"},
      {"X-Header", "1"},
      {"X_H", "1"},
      {"X.H", "1"},
      {"X H", "1"},
      {"X:H", "1"},
      {"a\\b", "1"},
      {"example.com", "1"},
      {"example.com.", "1"},
      {"foo.example.com", "1"},
      {"example", "1"},
      {"a.b.c", "1"},
      {"a_b.c", "1"},
      {"@", "1"},
      {"a\377", "1"},
      {"1.a", "1"},
      {"a.1", "1"},
      {"1-1", "1"},
      {"aB", "1"},
  };
  for (const Case& c : kCases) {
    Messages details;
    for (const FieldError& e : IsDomainPrefixedPath(FieldPath("f"), c.text)) {
      EXPECT_EQ(e.field, "f");
      details.push_back(e.type == FieldError::Type::kRequired ? e.Body() : e.detail);
    }
    Expect(details, c, kMessages);
  }
}

TEST(Names, IsDomainPrefixedKey) {
  const std::vector<std::string> kMessages = {
      "Required value",
      "must be a domain-prefixed key (such as \"acme.io/foo\")",
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "name part must be no more than 63 bytes",
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start "
      "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
      "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
      "subdomain prefix and '/' (e.g. 'example.com/MyName')",
      "prefix part must be non-empty",
      "name part must be non-empty",
      "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "prefix part must be no more than 253 bytes",
  };
  const Case kCases[] = {
      {"", "0"},
      {"a", "1"},
      {"a-b", "1"},
      {"a.b", "1"},
      {"A", "1"},
      {"-a", "2"},
      {"a-", "2"},
      {"a_b", "1"},
      {"1", "1"},
      {"1a", "1"},
      {"a..b", "1"},
      {".a", "2"},
      {"a.", "2"},
      {"a b", "2"},
      {"\303\251", "2"},
      {std::string(63, 'a'), "1"},
      {std::string(64, 'a'), "3"},
      {std::string(253, 'a'), "3"},
      {std::string(254, 'a'), "3"},
      {Dots(126), "3"},
      {Dots(127), "3"},
      {"*", "2"},
      {"*.", "2"},
      {"*.a", "2"},
      {"*.a.b", "2"},
      {"a.*", "2"},
      {"*.*.a", "2"},
      {"*." + std::string(252, 'a'), "32"},
      {"a/b", ""},
      {"a/b/c", "4"},
      {"/a", "5"},
      {"a/", "62"},
      {"A/b", "7"},
      {"a.b/C_d.e-f", ""},
      {"a_b.c/d", "7"},
      {std::string(254, 'a') + "/b", "8"},
      {"a/" + std::string(64, 'b'), "3"},
      {"a/-", "2"},
      {".", "2"},
      {"..", "2"},
      {"..a", "2"},
      {"a..", "2"},
      {"a%b", "2"},
      {"_a", "2"},
      {"a:b", "2"},
      {"$(A)", "2"},
      {"FOO_BAR", "1"},
      {"foo.bar", "1"},
      {"1FOO", "1"},
      {"foo=bar", "2"},
      {"=", "2"},
      {std::string("a\000", 2), "2"},
      {"a\012", "2"},
      {"a\011", "2"},
      {"~", "2"},
      {"http", "1"},
      {"8080", "1"},
      {"http2", "1"},
      {"a--b", "1"},
      {"abcdefghijklmnop", "1"},
      {"abcdefghijklmno", "1"},
      {"HTTP", "1"},
      {"-", "2"},
      {"--", "2"},
      {"0x1", "1"},
      {"X-Header", "1"},
      {"X_H", "1"},
      {"X.H", "1"},
      {"X H", "2"},
      {"X:H", "2"},
      {"a\\b", "2"},
      {"example.com", "1"},
      {"example.com.", "2"},
      {"foo.example.com", "1"},
      {"example", "1"},
      {"a.b.c", "1"},
      {"a_b.c", "1"},
      {"@", "2"},
      {"a\377", "2"},
      {"1.a", "1"},
      {"a.1", "1"},
      {"1-1", "1"},
      {"aB", "1"},
  };
  for (const Case& c : kCases) {
    Messages details;
    for (const FieldError& e : IsDomainPrefixedKey(FieldPath("f"), c.text)) {
      EXPECT_EQ(e.field, "f");
      details.push_back(e.type == FieldError::Type::kRequired ? e.Body() : e.detail);
    }
    Expect(details, c, kMessages);
  }
}

TEST(Names, GenerateNameMayEndWithADash) {
  struct Row {
    std::string text;
    bool prefix, good;
  };
  const Row kRows[] = {{"a-", true, true},
                       {"a-", false, false},
                       {"A-", true, true},
                       {"a-b-", true, true},
                       {"-", true, false},
                       {"a.", true, false},
                       {"", true, false},
                       {"a.-", true, true},
                       {"--", true, true},
                       {"1-", true, true},
                       {std::string(63, 'a') + "-", true, true}};
  for (const Row& row : kRows) {
    for (NameRule rule : {NameIsDNSSubdomain, NameIsDNSLabel, NameIsDNS1035Label}) {
      EXPECT_EQ(rule(row.text, row.prefix).empty(), row.good) << row.text;
    }
    EXPECT_TRUE(NameIsPathSegment(row.text, row.prefix).empty());
  }
  EXPECT_EQ(NameIsPathSegment("..", false), Messages{"may not be '..'"});
  EXPECT_EQ(NameIsPathSegment("..", true), Messages());
  EXPECT_EQ(NameIsPathSegment("a/%", true),
            (Messages{"may not contain '/'", "may not contain '%'"}));
}

TEST(Names, DomainPrefixedPathsAcceptUrlPathCharacters) {
  const FieldPath path("f");
  for (std::string_view good : {"a.b/%", "a.b//c", "a.b/c/", "a/b%20c", "a/~-_.!$&'()*+,;=:"}) {
    EXPECT_TRUE(IsDomainPrefixedPath(path, good).empty()) << good;
  }
  for (std::string_view bad :
       {"c d", "c?d", "\303\251", "@", "<", "\"", "{", "[", "|", "^", "`", "\\", "#"}) {
    FieldErrorList errors = IsDomainPrefixedPath(path, "a.b/" + std::string(bad));
    ASSERT_EQ(errors.size(), 1u) << bad;
    EXPECT_EQ(errors[0].value.text(), FieldValue(bad).text());
    EXPECT_EQ(errors[0].detail,
              "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
  }
}

}  // namespace
}  // namespace cox::validation
