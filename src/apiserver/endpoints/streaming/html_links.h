// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cox::apiserver {

// Rewrites the URLs in the attributes of an HTML page (href, src, action and others) while the page
// is streamed. Everything else is unchanged.
//
// Tokenizes like a browser where this decides what is an attribute: comments, declarations, the
// content of script, style and similar elements, and quoted and unquoted values.
// Memory: holds one tag. A tag of more than kMaxTag bytes is not rewritten.
// Threads: not thread-safe.
class HtmlLinks {
 public:
  static constexpr size_t kMaxTag = size_t{64} * 1024;

  // Returns the URL to use instead of `url`.
  using Rewrite = std::function<std::string(std::string_view url)>;

  explicit HtmlLinks(Rewrite rewrite) : rewrite_(std::move(rewrite)) {}

  // Returns the next part of the rewritten page. It may be empty.
  std::string Write(std::string_view piece);
  // Returns the rest after the last piece.
  std::string Finish();

 private:
  enum class State {
    kText,
    kTagOpen,  // after '<'
    kTagName,
    kBeforeAttribute,
    kAttributeName,
    kAfterAttributeName,
    kBeforeValue,
    kQuotedValue,
    kUnquotedValue,
    kMarkup,   // an end tag, declaration or processing instruction, up to '>'
    kComment,  // up to "-->"
    kRawText,  // content that is not parsed, up to raw_end_
  };
  // The position of an attribute in tag_.
  struct Attribute {
    std::string name;  // in lower case
    size_t begin = 0;  // of the value
    size_t end = 0;
  };

  void Next(char c);
  void NextInTag(char c);
  void NextInText(char c);
  void NextInRawText(char c);
  void AfterTagOpen(char c);
  void EndValue();
  void EndTag();
  // Appends tag_ without changes and continues with text.
  void GiveUpTag();
  std::string RewrittenTag() const;

  const Rewrite rewrite_;
  State state_ = State::kText;
  std::string out_;
  std::string tag_;       // from '<', while it is incomplete
  std::string tag_name_;  // in lower case
  std::vector<Attribute> attributes_;
  char quote_ = 0;       // of the value
  std::string raw_end_;  // the begin of the end tag of the raw text: "</script"
  std::string recent_;   // the characters that decide the end of markup, comment or raw text
};

}  // namespace cox::apiserver
