// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

// What HTTP/1.1 and HTTP/2 have in common: requests, responses, their headers and bodies.
namespace cox::net {

// Header fields in the order they came or shall go. Names are lower case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // REQUIRES: `name` is lower case.
  void Add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // Replaces every field of that name by one.
  void Set(std::string_view name, std::string value);
  // The first of that name; none if there is none.
  std::optional<std::string_view> Get(std::string_view name) const;
  // All values of that name, in order.
  std::vector<std::string_view> All(std::string_view name) const;
  void Remove(std::string_view name);
  // Makes each line break and NUL in a value a blank: in a field they would begin another.
  void Clean();

  bool empty() const { return fields_.empty(); }
  size_t size() const { return fields_.size(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field> fields_;
};

// Who is at the other end of a connection. One per connection, shared by its requests.
struct Peer {
  std::string address;  // "127.0.0.1:41234"; "pipe" for connections inside the process
  bool tls = false;
  // The certificates the client showed, leaf first, DER. Nobody has verified them: that is for
  // authentication, which answers 401 where TLS could only hang up.
  std::vector<std::string> certificates;
  // What authentication found for these certificates, kept for the requests that follow. Written
  // once, by whoever authenticates the first request.
  mutable std::shared_ptr<const void> identity;
};

struct Request {
  std::string method;  // "GET"
  std::string target;  // path and query as sent: "/api/v1/pods?limit=5"
  Headers headers;     // without pseudo headers; host is set for HTTP/2 too
  std::string body;    // whole; bounded by ServerOptions::max_body_bytes
  int version = 2;     // 1 or 2
  std::shared_ptr<const Peer> peer;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // Without the question mark; empty if there is none.
  std::string_view query() const {
    const size_t at = target.find('?');
    return at == std::string::npos ? std::string_view() : std::string_view(target).substr(at + 1);
  }
};

struct Response {
  int status = 200;
  Headers headers;  // content-length and date are added by the server
  std::vector<Bytes> body;
};

// A response body that comes piece by piece: a watch, a log, a large list.
//
// The connection pulls: it asks for more when the peer can take more, so a slow peer costs one
// cursor and no queue. Pull is called on the connection's loop thread and must not block.
// Lifetime: destroyed (on the loop thread) when the body has ended or the peer is gone, whichever
// is
//   first.
class BodySource {
 public:
  enum class State {
    kMore,  // there may be more right now: ask again when these bytes are on their way
    kWait,  // nothing more for the moment: Waker::Wake will tell
    kEnd,   // that was all
  };

  virtual ~BodySource() = default;
  // Appends about `budget` bytes or less to `out`; a piece that is larger may be given whole.
  virtual State Pull(size_t budget, std::vector<Bytes>* out) = 0;
};

// Tells a connection that its BodySource has something again. Cheap, from any thread, any number of
// times; does nothing once the response is over.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void Wake() = 0;
};

// Whether a header field is about one connection instead of about the request or the response.
bool IsHopByHop(std::string_view lower_case_name);

}  // namespace cox::net
