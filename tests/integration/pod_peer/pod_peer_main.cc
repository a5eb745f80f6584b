// SPDX-License-Identifier: Apache-2.0
// PodPeer as a program, for kubectl_streams_test.py. It prints its port. Lines of its standard
// input become the output of the containers, until "end". It exits at the end of its input.
#include <cstdio>
#include <iostream>
#include <string>

#include "base/check.h"
#include "base/clock.h"
#include "net/tls.h"
#include "sdk/streams/peer/pod_peer.h"

int main() {
  cox::RealClock clock;
  const cox::Context context(clock);
  const auto certificate =
      cox::net::MakeCertificate({.common_name = "peer", .ip_addresses = {"127.0.0.1"}}, nullptr);
  COX_CHECK_OK(certificate.status());
  const auto tls = cox::net::ServerTls::Create({.certificate = *certificate});
  COX_CHECK_OK(tls.status());
  cox::sdk::PodPeer::Options options;
  options.server.tls = *tls;
  cox::sdk::PodPeer peer(context, std::move(options));
  std::printf("%d\n", peer.port());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "end") {
      peer.log().End();
    } else {
      peer.log().Append(line);
    }
  }
  return 0;
}
