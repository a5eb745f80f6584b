// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/list_response.h"

#include <algorithm>
#include <utility>

#include "apiserver/endpoints/verbs/list_encoder.h"

namespace cox::apiserver {
namespace {

using storage::EntryPtr;

// Lists of this many stored bytes or more are encoded while the client reads them.
constexpr size_t kStreamFrom = size_t{1} << 20;

// The body of a large list.
class ListSource final : public net::BodySource {
 public:
  // `items_size`: see ListEncoder::Head.
  ListSource(std::shared_ptr<const ServedResource> resource, std::unique_ptr<ListEncoder> encoder,
             std::vector<EntryPtr> entries, size_t items_size, std::shared_ptr<void> held)
      : resource_(std::move(resource)),
        encoder_(std::move(encoder)),
        entries_(std::move(entries)),
        items_size_(items_size),
        held_(std::move(held)) {}

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    if (!std::exchange(begun_, true)) out->emplace_back(encoder_->Head(items_size_));
    for (size_t done = 0; next_ < entries_.size();) {
      if (done >= budget) return State::kMore;
      const size_t first = out->size();
      const EntryPtr entry = std::move(entries_[next_++]);
      encoder_->Item(*entry, out);
      size_t written = 0;
      for (size_t i = first; i < out->size(); ++i) written += (*out)[i].size();
      // The rows of a table are small, but the objects must be decoded on the event loop.
      done += std::max(written, entry->stored().size());
    }
    out->emplace_back(encoder_->Tail());
    return State::kEnd;
  }

 private:
  // Keeps the resource alive if it is removed meanwhile. The encoder refers to it.
  const std::shared_ptr<const ServedResource> resource_;
  const std::unique_ptr<ListEncoder> encoder_;
  std::vector<EntryPtr> entries_;
  const size_t items_size_;
  const std::shared_ptr<void> held_;
  bool begun_ = false;
  size_t next_ = 0;
};

// Tables of some kinds are sorted by something else than the key.
void SortRows(const ServedResource& resource, std::vector<EntryPtr>& entries) {
  std::vector<std::pair<Object, EntryPtr>> rows;
  for (EntryPtr& entry : entries) {
    Result<Object> hub = resource.store().Decode(entry->stored(), entry->revision());
    if (hub.ok()) rows.emplace_back(std::move(*hub), std::move(entry));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return resource.strategy().RowBefore(a.first, b.first);
  });
  entries.clear();
  for (auto& [hub, entry] : rows) entries.push_back(std::move(entry));
}

// Encodes each item and drops it.
size_t SizeOfItems(ListEncoder& encoder, const std::vector<EntryPtr>& entries) {
  size_t size = 0;
  std::vector<Bytes> pieces;
  for (const EntryPtr& entry : entries) {
    encoder.Item(*entry, &pieces);
    for (const Bytes& piece : pieces) size += piece.size();
    pieces.clear();
  }
  return size;
}

std::vector<Bytes> EncodeAtOnce(ListEncoder& encoder, const std::vector<EntryPtr>& entries) {
  std::vector<Bytes> pieces(1);
  pieces.reserve(entries.size() * 2 + 2);
  for (const EntryPtr& entry : entries) encoder.Item(*entry, &pieces);
  size_t size = 0;
  for (const Bytes& piece : pieces) size += piece.size();
  pieces[0] = Bytes(encoder.Head(size));
  pieces.emplace_back(encoder.Tail());
  return pieces;
}

size_t StoredSize(const std::vector<EntryPtr>& entries) {
  size_t size = 0;
  for (const EntryPtr& entry : entries) size += entry->stored().size();
  return size;
}

}  // namespace

Status RespondList(Call& call, const ServedResource& resource, ListPage page,
                   const Accepted& accepted, IncludeObject include) {
  ListMeta meta{page.revision, std::move(page.continue_token), page.remaining};
  COX_ASSIGN_OR_RETURN(
      std::unique_ptr<ListEncoder> encoder,
      MakeListEncoder(resource, std::move(meta), accepted, include, NowOf(call.ctx())));
  if (accepted.transform == Transform::kTable && resource.strategy().SortsRows()) {
    SortRows(resource, page.entries);
  }
  const std::string_view type = MediaType(accepted.format);
  if (accepted.pretty || accepted.format == Format::kYaml) {
    std::string json;
    for (const Bytes& piece : EncodeAtOnce(*encoder, page.entries)) json += piece.view();
    call.Respond(200, type, {Bytes(FinishJson(std::move(json), accepted))});
    return {};
  }
  // The audit log needs the complete response.
  const bool recorded = call.audit() != nullptr && call.audit()->records_response_body();
  if (recorded || StoredSize(page.entries) < kStreamFrom) {
    call.Respond(200, type, EncodeAtOnce(*encoder, page.entries));
    return {};
  }
  const size_t items_size =
      encoder->head_has_size() ? SizeOfItems(*encoder, page.entries) : size_t{0};
  call.RespondInPieces(
      type, std::make_unique<ListSource>(resource.Hold(), std::move(encoder),
                                         std::move(page.entries), items_size, call.TakeHeld()));
  return {};
}

}  // namespace cox::apiserver
