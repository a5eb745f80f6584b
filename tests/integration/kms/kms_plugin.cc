// SPDX-License-Identifier: Apache-2.0
// A KMS plugin for tests: kms_plugin SOCKET KEY_ID. Keys are derived from their ids, so that a
// restarted plugin can decrypt earlier data. For tests only.
#include <grpcpp/grpcpp.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstdio>
#include <memory>
#include <string>

#include "service.grpc.pb.h"

namespace {

constexpr int kNonce = 12;
constexpr int kTag = 16;
constexpr char kNote[] = "note.kms.example.com";

unsigned char* Raw(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }
const unsigned char* Raw(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string KeyOf(const std::string& id) {
  std::string key(32, '\0');
  EVP_Digest(id.data(), id.size(), Raw(key), nullptr, EVP_sha256(), nullptr);
  return key;
}

struct Free {
  void operator()(EVP_CIPHER_CTX* ctx) const { EVP_CIPHER_CTX_free(ctx); }
};

std::string Seal(const std::string& id, const std::string& plain) {
  std::string nonce(kNonce, '\0'), text(plain.size(), '\0'), tag(kTag, '\0');
  RAND_bytes(Raw(nonce), kNonce);
  const std::unique_ptr<EVP_CIPHER_CTX, Free> ctx(EVP_CIPHER_CTX_new());
  int size = 0;
  EVP_EncryptInit_ex(ctx.get(), EVP_aes_256_gcm(), nullptr, Raw(KeyOf(id)), Raw(nonce));
  EVP_EncryptUpdate(ctx.get(), Raw(text), &size, Raw(plain), static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(ctx.get(), Raw(tag), &size);
  EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kTag, tag.data());
  return nonce + text + tag;
}

bool Open(const std::string& id, const std::string& sealed, std::string* plain) {
  if (sealed.size() < kNonce + kTag) return false;
  std::string nonce = sealed.substr(0, kNonce), tag = sealed.substr(sealed.size() - kTag);
  const std::string text = sealed.substr(kNonce, sealed.size() - kNonce - kTag);
  plain->assign(text.size(), '\0');
  const std::unique_ptr<EVP_CIPHER_CTX, Free> ctx(EVP_CIPHER_CTX_new());
  int size = 0;
  EVP_DecryptInit_ex(ctx.get(), EVP_aes_256_gcm(), nullptr, Raw(KeyOf(id)), Raw(nonce));
  EVP_DecryptUpdate(ctx.get(), Raw(*plain), &size, Raw(text), static_cast<int>(text.size()));
  EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data());
  return EVP_DecryptFinal_ex(ctx.get(), Raw(tag), &size) == 1;
}

class Plugin final : public v2::KeyManagementService::Service {
 public:
  explicit Plugin(std::string key_id) : key_id_(std::move(key_id)) {}

  grpc::Status Status(grpc::ServerContext*, const v2::StatusRequest*,
                      v2::StatusResponse* response) override {
    response->set_version("v2");
    response->set_healthz("ok");
    response->set_key_id(key_id_);
    return grpc::Status::OK;
  }

  grpc::Status Encrypt(grpc::ServerContext*, const v2::EncryptRequest* request,
                       v2::EncryptResponse* response) override {
    response->set_ciphertext(Seal(key_id_, request->plaintext()));
    response->set_key_id(key_id_);
    (*response->mutable_annotations())[kNote] = "of the test";
    std::fprintf(stderr, "encrypt %s\n", request->uid().c_str());
    return grpc::Status::OK;
  }

  grpc::Status Decrypt(grpc::ServerContext*, const v2::DecryptRequest* request,
                       v2::DecryptResponse* response) override {
    std::fprintf(stderr, "decrypt %s\n", request->uid().c_str());
    const auto note = request->annotations().find(kNote);
    if (note == request->annotations().end() || note->second != "of the test") {
      return {grpc::StatusCode::INVALID_ARGUMENT, "the annotation is missing"};
    }
    if (!Open(request->key_id(), request->ciphertext(), response->mutable_plaintext())) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "not my ciphertext"};
    }
    return grpc::Status::OK;
  }

 private:
  const std::string key_id_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kms_plugin SOCKET KEY_ID\n");
    return 2;
  }
  Plugin plugin(argv[2]);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("unix://") + argv[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&plugin);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::fprintf(stderr, "serving\n");
  server->Wait();
  return 0;
}
