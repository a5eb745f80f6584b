// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http.h"

namespace cox::net {

// Parses one HTTP/1.1 request or response. Beast implements the grammar and rejects messages that
// allow request smuggling (two lengths, length and chunks, folded lines, blanks before a colon).
//
// Body bytes are appended to `body`, which the caller may clear at any time.
template <bool IsRequest>
class Http1Parser final : public boost::beast::http::basic_parser<IsRequest> {
 public:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;

  enum class Outcome { kMore, kHeaders, kDone, kTooLarge, kBad };

  explicit Http1Parser(size_t max_header_bytes) {
    this->header_limit(static_cast<uint32_t>(max_header_bytes));
    this->body_limit(boost::none);
  }

  // Consumes bytes from the front of `in`. kMore: needs more bytes; kHeaders (once): the head is
  // complete; kDone: the message is complete. kBad: see error().
  Outcome Parse(std::string_view* in) {
    for (;;) {
      Error error;
      const size_t used = this->put(boost::asio::const_buffer(in->data(), in->size()), error);
      in->remove_prefix(used);
      if (error && error != boost::beast::http::error::need_more) {
        error_ = error.message();
        return error == boost::beast::http::error::header_limit ? Outcome::kTooLarge
                                                                : Outcome::kBad;
      }
      if (this->is_header_done() && !headers_reported_) {
        headers_reported_ = true;
        this->eager(true);
        return Outcome::kHeaders;
      }
      if (this->is_done()) return Outcome::kDone;
      if (error || used == 0 || in->empty()) return Outcome::kMore;
    }
  }

  // Requests only.
  std::string method;
  std::string target;
  // Responses only.
  int status = 0;

  int minor_version = 1;
  Headers headers;
  std::string body;
  const std::string& error() const { return error_; }

 private:
  void on_request_impl(boost::beast::http::verb, Text name, Text where, int version,
                       Error&) override {
    method.assign(name.data(), name.size());
    target.assign(where.data(), where.size());
    minor_version = version % 10;
  }
  void on_response_impl(int code, Text, int version, Error&) override {
    status = code;
    minor_version = version % 10;
  }
  void on_field_impl(boost::beast::http::field, Text name, Text value, Error&) override {
    if (headers_reported_) return;  // trailers are ignored
    std::string lower(name.data(), name.size());
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    headers.Add(std::move(lower), std::string(value.data(), value.size()));
  }
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, Error&) override {}
  size_t on_body_impl(Text bytes, Error&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, Text, Error&) override {}
  size_t on_chunk_body_impl(uint64_t, Text bytes, Error&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(Error&) override {}

  bool headers_reported_ = false;
  std::string error_;
};

}  // namespace cox::net
