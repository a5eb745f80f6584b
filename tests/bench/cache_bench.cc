// SPDX-License-Identifier: Apache-2.0
// Measures the memory of Pods in the SDK's cache relative to their JSON: as structs, as bytes, as
// metadata.
//
// Each variant runs in its own process, like an informer after its list: items are decoded from
// protobuf one by one, prepared and stored. The result is the growth of the resident memory after
// free memory is returned. With --check the program fails above the limits, which are slightly
// higher than the measured values, so that a regression is noticed. Targets: structs 2, bytes 1.2,
// metadata 0.15 times the JSON.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "base/clock.h"
#include "base/notification.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "sample_pod.h"
#include "sdk/cache/resource_informer.h"

namespace {

using cox::Object;
using cox::core::v1::Pod;
using cox::sdk::ItemForm;
using cox::sdk::ResourceInformer;

constexpr size_t kJsonBytes = 10'000;

std::string Fields(size_t bytes) {
  std::string out = R"({"f:metadata":{"f:labels":{".":{}}})";
  for (int i = 0; out.size() < bytes; ++i) {
    out += R"(,"f:spec)" + std::to_string(i) + R"(":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}})";
  }
  return out + "}";
}

cox::meta::v1::ManagedFieldsEntry Manager(std::string name, std::string subresource, size_t bytes) {
  return {.manager = std::move(name),
          .operation = "Update",
          .apiVersion = "v1",
          .time = cox::Time::FromUnix(1'790'000'000),
          .fieldsType = "FieldsV1",
          .fieldsV1 = cox::RawJson{Fields(bytes)},
          .subresource = std::move(subresource)};
}

// How Pods are extended to kJsonBytes.
enum class Grown {
  kEnv,         // two containers with many variables, and managedFields: a typical Pod
  kUnmanaged,   // the same without managedFields
  kContainers,  // many containers with all fields: structs with little text
};

// A typical Pod of kJsonBytes.
Pod MakePod(Grown grown) {
  Pod pod = cox::bench::SamplePod();
  if (grown == Grown::kEnv) {
    pod.metadata.managedFields = {Manager("kube-controller-manager", "", 1700),
                                  Manager("kubelet", "status", 900)};
  }
  pod.spec.volumes.resize(1);
  pod.spec.volumes[0].name = "kube-api-access-abcde";
  const auto add_container = [&pod](int i) {
    pod.spec.containers.push_back(cox::bench::SampleContainer(i));
    pod.status.containerStatuses.push_back(cox::bench::SampleContainerStatus(i));
  };
  add_container(0);
  add_container(1);
  for (int i = 2; cox::json::Encode(pod).size() < kJsonBytes; ++i) {
    if (grown == Grown::kContainers) {
      add_container(i);
    } else {
      pod.spec.containers[static_cast<size_t>(i % 2)].env.push_back(
          {.name = "CHECKOUT_SETTING_" + std::to_string(i),
           .value = "https://payments.example.com/v1/"});
    }
  }
  return pod;
}

size_t ResidentBytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

struct Way {
  const char* name;
  bool metadata;
  Grown grown;
  cox::CacheScope::Keep keep;
  double at_most;  // times the JSON
};

// Decodes one item like the client, as input of the reflector.
std::shared_ptr<Object> Decode(const Way& way, const std::string& wire) {
  Object object(way.metadata ? cox::meta::v1::PartialObjectMetadata::kKind : Pod::kKind);
  if (!cox::proto::Decode(wire, object.type(), object.data()).ok()) std::abort();
  return std::make_shared<Object>(std::move(object));
}

bool Run(const Way& way, int count) {
  cox::RealClock clock;
  cox::CacheScope scope;
  scope.keep = way.keep;
  auto informer = std::make_shared<ResourceInformer>(cox::Resource::Of<Pod>(), way.metadata, scope,
                                                     clock, cox::Clock::Duration(),
                                                     std::make_shared<cox::Notification>());
  const auto feed = informer->StartFeed("");
  const Pod sample = MakePod(way.grown);
  size_t json = 0;
  std::vector<cox::sdk::Item> items;
  const size_t before = ResidentBytes();
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(100'000'000 + i);
    Pod pod = sample;
    pod.metadata.name = pod.metadata.generateName + id;
    pod.metadata.uid = "0f3c7a1e-5a0e-4c39-9f55-0d3" + id;
    pod.metadata.resourceVersion = id;
    if (i == 0) json = cox::json::Encode(pod).size();
    const std::string wire =
        way.metadata ? cox::proto::Encode(cox::meta::v1::PartialObjectMetadata{pod.metadata})
                     : cox::proto::Encode(pod);
    items.push_back(ItemForm::WithoutObject(informer->Prepare(Decode(way, wire))));
  }
  informer->Replace(feed, std::move(items), "999999999", true);
  items = {};
  const size_t grown = ResidentBytes() - before;
  const double ratio = static_cast<double>(grown) / static_cast<double>(json) / count;
  std::printf("%-34s %6zu B JSON  %7zu B in RAM  %6zu B by cache_bytes  %.2fx (at most %.2fx)\n",
              way.name, json, grown / static_cast<size_t>(count),
              informer->bytes() / static_cast<size_t>(count), ratio, way.at_most);
  return ratio <= way.at_most;
}

bool RunApart(const Way& way, int count) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const bool kept = Run(way, count);
    std::fflush(stdout);
    _exit(kept ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  const int count = argc > 1 && !check ? std::atoi(argv[1]) : 5'000;
  using Keep = cox::CacheScope::Keep;
  const Way ways[] = {
      {"structs", false, Grown::kEnv, Keep::kObjects, 2.1},
      {"structs, without managedFields", false, Grown::kUnmanaged, Keep::kObjects, 2.4},
      // Structs contain all fields of a container; this is the worst case relative to the JSON.
      {"structs, of many containers", false, Grown::kContainers, Keep::kObjects, 2.7},
      {"bytes", false, Grown::kEnv, Keep::kBytes, 1.2},
      {"bytes, of many containers", false, Grown::kContainers, Keep::kBytes, 1.2},
      {"metadata, without managedFields", true, Grown::kUnmanaged, Keep::kObjects, 0.16},
      {"metadata", true, Grown::kEnv, Keep::kObjects, 0.5},
  };
  bool kept = true;
  for (const Way& way : ways) kept = RunApart(way, count) && kept;
  return check && !kept ? 1 : 0;
}
