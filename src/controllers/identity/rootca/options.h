// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::controllers {

struct RootCaOptions {
  // The content of --root-ca-file: the certificates that Pods trust. If it is empty, nothing is
  // published.
  std::string root_ca_pem;
};

}  // namespace cox::controllers
