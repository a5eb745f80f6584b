// SPDX-License-Identifier: Apache-2.0
// Data of a client after TLS: the first byte selects the protocol (even: HTTP/2, with preface and
// settings already exchanged if bit 1 is set; odd: HTTP/1.1) and the size of the reads. Depending
// on the length of the path, requests are answered immediately, later, with a stream, or never.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/testing/http2_frames.h"
#include "net/testing/session_harness.h"

namespace {

using namespace cox::net;

struct Countdown final : BodySource {
  State Pull(size_t budget, std::vector<cox::Bytes>* out) override {
    if (left == 0) return State::kEnd;
    out->push_back(cox::Bytes(std::string(budget / 3, 'x')));
    return --left % 2 == 0 ? State::kMore : State::kWait;
  }
  int left = 5;
};

void Handle(SessionHarness& server, ExchangePtr exchange) {
  const Request& request = exchange->request();
  if (request.body.size() > server.options.max_body_bytes + 1) __builtin_trap();
  Response response;
  switch (request.target.size() % 4) {
    case 0:
      response.body.push_back(cox::Bytes(request.body));
      return exchange->Send(std::move(response));
    case 1:
      exchange->Stream(200, {{"content-type", "text/plain"}}, std::make_unique<Countdown>())
          ->Wake();
      return;
    case 2:
      server.exchanges.push_back(std::move(exchange));
      return;
    default:
      return;  // never answered
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t mode = data[0];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ServerOptions options;
  options.max_body_bytes = 1000;
  options.max_header_bytes = 4000;
  options.max_buffered_bytes = 3000;
  options.max_streams = 10;
  options.stream_window = 2000;
  SessionHarness server(mode % 2 == 0, std::move(options));
  server.on_request = [&server](ExchangePtr exchange) { Handle(server, std::move(exchange)); };
  if (mode % 4 == 2) server.Exchange(frames::Hello());
  const size_t step = mode < 128 ? bytes.size() + 1 : size_t{1} + mode % 64;
  size_t produced = 0;
  while (!bytes.empty() && !server.session->finished()) {
    produced += server.Exchange(bytes.substr(0, step)).size();
    bytes.remove_prefix(std::min(step, bytes.size()));
    server.Advance(std::chrono::milliseconds(100));
    if (!server.exchanges.empty()) {
      const ExchangePtr exchange = std::move(server.exchanges.back());
      server.exchanges.pop_back();
      exchange->Send({});
    }
  }
  server.session->StopStreams();
  server.session->Drain();
  produced += server.Output().size();
  server.Advance(std::chrono::hours(1));
  produced += server.Output().size();
  if (produced > (size + 100) * 100'000) __builtin_trap();  // amplification
  server.session.reset();
  if (server.counters.request_bytes != 0 || server.counters.streams != 0) __builtin_trap();
  return 0;
}
