// SPDX-License-Identifier: Apache-2.0
#include "net/gzip_body.h"

#include <utility>
#include <vector>

#include "net/gzip.h"

namespace cox::net {
namespace {

class GzipBody final : public BodySource {
 public:
  GzipBody(std::unique_ptr<BodySource> source, int level)
      : source_(std::move(source)), gzip_(level) {}

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    std::vector<Bytes> pieces;
    const State state = source_->Pull(budget, &pieces);
    std::string packed;
    for (const Bytes& piece : pieces) gzip_.Add(piece.view(), &packed);
    if (state == State::kEnd) gzip_.Finish(&packed);
    if (!packed.empty()) out->emplace_back(std::move(packed));
    return state;
  }

 private:
  const std::unique_ptr<BodySource> source_;
  Gzip gzip_;
};

}  // namespace

std::unique_ptr<BodySource> MakeGzipBody(std::unique_ptr<BodySource> source, int level) {
  return std::make_unique<GzipBody>(std::move(source), level);
}

}  // namespace cox::net
