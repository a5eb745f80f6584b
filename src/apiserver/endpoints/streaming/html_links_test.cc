// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/html_links.h"

#include <gtest/gtest.h>
#include <malloc.h>

namespace cox::apiserver {
namespace {

std::string PrefixAbsolutePath(std::string_view url) {
  return url.starts_with('/') ? "/p" + std::string(url) : std::string(url);
}

std::string RewriteInPieces(std::string_view page, size_t size) {
  HtmlLinks links(PrefixAbsolutePath);
  std::string text;
  for (size_t at = 0; at < page.size(); at += size) text += links.Write(page.substr(at, size));
  return text + links.Finish();
}

TEST(HtmlLinks, RewritesOnlyUrlAttributes) {
  const struct {
    std::string_view page, want;
  } kCases[] = {
      {R"(<a href="/x">/y</a>)", R"(<a href="/p/x">/y</a>)"},
      {R"(<A  HREF = '/x' class="/c">)", R"(<A  HREF = '/p/x' class="/c">)"},
      {R"(<a href=/x>)", R"(<a href=/p/x>)"},
      {R"(<a href=/x class=/y>)", R"(<a href=/p/x class=/y>)"},
      {"<a\nhref\t=\n\"/x\"\n>", "<a\nhref\t=\n\"/p/x\"\n>"},
      {R"(<img alt="a > b" src="/x"/>)", R"(<img alt="a > b" src="/p/x"/>)"},
      {R"(<img alt=it's src='/x'>)", R"(<img alt=it's src='/p/x'>)"},
      {R"(<img src=" /x ">)", R"(<img src="/p/x">)"},
      {R"(<img src="" src>)", R"(<img src="" src>)"},
      {R"(<img hidden src="/x">)", R"(<img hidden src="/p/x">)"},
      {R"(<img/src="/x">)", R"(<img/src="/p/x">)"},
      {R"(<frame src="/a" longdesc="/b">)", R"(<frame src="/p/a" longdesc="/p/b">)"},
      {R"(<form action="/x"><input src='/y'>)", R"(<form action="/p/x"><input src='/p/y'>)"},
      {R"(<a href="rel"><a href="http://h/x">)", R"(<a href="rel"><a href="http://h/x">)"},
      {R"(<p href="/x"><custom-a href="/x">)", R"(<p href="/x"><custom-a href="/x">)"},
      // Text, comments, declarations and end tags.
      {R"(a < b <a href="/x">)", R"(a < b <a href="/p/x">)"},
      {R"(<<a href="/x">)", R"(<<a href="/p/x">)"},
      {R"(<!-- <a href="/x"> -- > --><a href="/y">)",
       R"(<!-- <a href="/x"> -- > --><a href="/p/y">)"},
      {R"(<!--><a href="/x">)", R"(<!--><a href="/p/x">)"},
      {R"(<!DOCTYPE html><a href="/x">)", R"(<!DOCTYPE html><a href="/p/x">)"},
      {R"(<?xml href="/x"?></a href="/x"><a href="/x">)",
       R"(<?xml href="/x"?></a href="/x"><a href="/p/x">)"},
      // Elements whose content is not parsed.
      {R"(<script src="/s">x='<a href="/x">'; '</scripty>'</SCRIPT ><a href="/x">)",
       R"(<script src="/p/s">x='<a href="/x">'; '</scripty>'</SCRIPT ><a href="/p/x">)"},
      {R"(<style><a href="/x"><</style><a href="/x">)",
       R"(<style><a href="/x"><</style><a href="/p/x">)"},
      {R"(<textarea><a href="/x"></textarea/><a href="/x">)",
       R"(<textarea><a href="/x"></textarea/><a href="/p/x">)"},
      // Incomplete tags.
      {R"(<a href="/x)", R"(<a href="/x)"},
      {"<", "<"},
      {"text", "text"},
      {"", ""},
  };
  for (const auto& c : kCases) {
    // The result does not depend on how the page is divided.
    for (size_t size = 1; size <= c.page.size() + 1; ++size) {
      EXPECT_EQ(RewriteInPieces(c.page, size), c.want) << "in pieces of " << size;
    }
  }
}

TEST(HtmlLinks, UrlThatWouldEndTheValueIsNotUsed) {
  HtmlLinks links([](std::string_view) { return R"(/p/"onload="alert(1))"; });
  EXPECT_EQ(links.Write(R"(<img src="/x">)"), R"(<img src="/x">)");
}

size_t AllocatedBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The page comes from a server that is not trusted.
TEST(HtmlLinks, MarkupWithoutEndIsNotHeld) {
  for (const std::string begin :
       {"<!", "</a", "<?", "<!--", "<script>", "<textarea></text", "<a href=\""}) {
    HtmlLinks links(PrefixAbsolutePath);
    static_cast<void>(links.Write(begin));
    const std::string piece(4096, 'x');
    const size_t before = AllocatedBytes();
    for (int i = 0; i < 4096; ++i) static_cast<void>(links.Write(piece));
    EXPECT_LT(AllocatedBytes(), before + (size_t{1} << 20)) << begin;
  }
}

TEST(HtmlLinks, LongTagIsNotHeld) {
  HtmlLinks links(PrefixAbsolutePath);
  const std::string page = R"(<a href="/)" + std::string(4 * HtmlLinks::kMaxTag, 'x');
  size_t written = 0;
  for (size_t at = 0; at < page.size(); at += 1000) {
    const std::string_view piece = std::string_view(page).substr(at, 1000);
    written += links.Write(piece).size();
    EXPECT_LE(at + piece.size() - written, HtmlLinks::kMaxTag + 1);
  }
  EXPECT_EQ(written + links.Finish().size(), page.size());
}

}  // namespace
}  // namespace cox::apiserver
