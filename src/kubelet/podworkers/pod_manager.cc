// SPDX-License-Identifier: Apache-2.0
#include "kubelet/podworkers/pod_manager.h"

#include <algorithm>

#include "base/scope.h"
#include "base/strings.h"
#include "coxswain/work_queue.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/podworkers/pod_table.h"
#include "kubelet/volumes/payload/tokens.h"

namespace cox::kubelet {

using core::v1::Pod;
using PodPtr = std::shared_ptr<const Pod>;

namespace {

// Keys of the work queue are Pod UIDs, except three: they relist the runtime, update the cgroups of
// the QoS classes, and prune the records of pulled images.
ObjectKey QueueKey(const std::string& uid) { return {"", uid}; }
const ObjectKey kRelist{"relist", ""};
const ObjectKey kClasses{"classes", ""};
const ObjectKey kImages{"images", ""};

// A timeout, so that an unreachable API server does not block workers.
constexpr std::chrono::seconds kNodeTime{10};
constexpr std::chrono::seconds kImageListTime{120};
constexpr std::chrono::minutes kImageRecordPeriod{5};

CgroupTree::Options TreeOptions(const Options& options) {
  return {.enabled = options.cgroups_per_qos,
          .driver =
              options.cgroup_driver == "systemd" ? CgroupDriver::kSystemd : CgroupDriver::kCgroupfs,
          .root = options.cgroup_root,
          .enforce_cpu = options.cpu_cfs_quota,
          .pids_limit =
              options.pod_pids_limit > 0 ? std::optional(options.pod_pids_limit) : std::nullopt};
}

class Manager final : public PodManager {
 public:
  Manager(const Context& ctx, Options options, Parts parts);
  ~Manager() override;

  void OnPod(PodPtr pod) override {
    for (const std::string& uid : table_.Put(std::move(pod))) Wake(uid);
    queue_->Add(kClasses, kLowPriority);
  }
  void OnPodDeleted(PodPtr last) override {
    table_.SetDeleted(*last);
    Wake(last->metadata.uid);
    queue_->Add(kClasses, kLowPriority);
  }
  void OnPodsSynced() override {
    table_.SetSynced();
    queue_->Add(kRelist);
  }
  void Resync() override {
    for (const std::string& uid : table_.Uids()) queue_->Add(QueueKey(uid), kLowPriority);
  }
  Status Run(Context& ctx) override;
  Status EndPod(const std::string& uid, PodEnd end) override {
    if (!table_.SetEnd(uid, std::move(end))) {
      return Status::NotFound("no pod with uid " + Quote(uid) + " is on this node");
    }
    Wake(uid);
    return {};
  }
  List<Pod> Pods() const override;
  PodPtr FindPod(const ObjectKey& key, const std::string& uid) const override;
  Result<ContainerRef> FindContainer(Context& ctx, const ObjectKey& pod, const std::string& uid,
                                     const std::string& container, bool previous) override;
  Result<std::string> SandboxOf(Context& ctx, const ObjectKey& pod,
                                const std::string& uid) override;
  Status Ready() const override { return pleg_.Healthy(); }

 private:
  void Wake(const std::string& uid) { queue_->Add(QueueKey(uid)); }
  void Listed(const std::vector<runtime::PodState>& pods);
  void SetClasses(Context& ctx);
  void PruneImageRecords(Context& ctx);
  void Work(Context& ctx);
  SyncResult Process(Context& ctx, const std::string& uid);
  ProbeExec ExecForProbes();
  ProbeManager::Options ProbeOptions();
  void Unhealthy(const ProbeManager::Failed& failed);
  Pod WithNewestStatus(const Pod& pod) const;

  const Options options_;
  const Parts given_;
  Context ctx_;  // for all background work
  const std::unique_ptr<WorkQueue> queue_;
  PodTable table_;
  const std::unique_ptr<Mounter> own_mounter_;
  Tokens tokens_;
  Pleg pleg_;
  CgroupTree cgroups_;
  Histogram* duration_ = nullptr;
  MetricHandle desired_;
  // The following members have threads that call Wake.
  WatchedObjects objects_;
  VolumeManager volumes_;
  StatusManager status_;
  Prober prober_;
  ProbeManager probes_;
  PullRecords records_;
  ImagePuller images_;
  ContainerKiller killer_;
  const SyncParts sync_;
  PodWorker worker_;
};

Manager::Manager(const Context& ctx, Options options, Parts parts)
    : options_(std::move(options)),
      given_(std::move(parts)),
      ctx_(ctx.Child()),
      queue_(WorkQueue::Create(
          ctx.clock(),
          {.name = "pods",
           .limiter = ExponentialBackoff(std::chrono::milliseconds(500), std::chrono::seconds(30)),
           .metrics = given_.metrics})),
      table_(options_),
      own_mounter_(given_.mounter == nullptr ? MakeMounter() : nullptr),
      tokens_(given_.client),
      pleg_(ctx.clock(), {.runtime = given_.runtime,
                          .woken = [this](const std::string& uid) { Wake(uid); },
                          .listed = [this](const auto& pods) { Listed(pods); },
                          .metrics = given_.metrics}),
      cgroups_(TreeOptions(options_)),
      objects_(ctx_, given_.client,
               [this](const std::string& uid) {
                 table_.ObjectsChanged(uid);
                 Wake(uid);
               }),
      volumes_({.root_dir = options_.root_dir}, objects_, tokens_,
               own_mounter_ != nullptr ? *own_mounter_ : *given_.mounter),
      status_(ctx_, given_.client, [this](const ObjectKey& key) { return table_.Find(key, ""); }),
      prober_(ctx_, ExecForProbes()),
      probes_(ctx_, ProbeOptions()),
      records_({.directory = options_.root_dir + "/image_manager",
                .policy = options_.image_verification,
                .allowlist = options_.image_verification_allowlist}),
      images_(ctx_, {.runtime = given_.runtime,
                     .events = given_.events,
                     .objects = objects_,
                     .records = records_,
                     .changed = [this](const std::string& uid) { Wake(uid); },
                     .max_parallel = static_cast<size_t>(options_.max_parallel_image_pulls)}),
      killer_(ctx_, {.runtime = given_.runtime,
                     .prober = prober_,
                     .events = given_.events,
                     .changed =
                         [this](const std::string& uid) {
                           pleg_.Invalidate(uid);
                           Wake(uid);
                         }}),
      sync_{
          options_, given_.client,   given_.runtime, given_.events,
          pleg_,    status_,         objects_,       volumes_,
          prober_,  probes_,         images_,        killer_,
          cgroups_, given_.services, given_.node,    [this](const std::string& uid) { Wake(uid); }},
      worker_(ctx_, sync_) {
  if (given_.metrics == nullptr) return;
  duration_ = &given_.metrics->AddHistogram({.name = "kubelet_pod_worker_duration_seconds",
                                             .help = "Duration in seconds to sync a single pod."},
                                            {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
  desired_ = given_.metrics->AddGaugeCallback(
      {.name = "kubelet_desired_pods",
       .help = "The number of pods the kubelet is instructed to run."},
      {"static"},
      [this](const EmitSample& emit) { emit({""}, static_cast<double>(table_.Pods().size())); });
}

Manager::~Manager() {
  queue_->ShutDown();
  ctx_.Stop();
}

ProbeExec Manager::ExecForProbes() {
  return [this](const Context& ctx, const std::string& id, const List<std::string>& command,
                std::chrono::seconds timeout, std::function<void(Result<ProbeExecResult>)> done) {
    given_.runtime.ExecAsync(ctx, id, command, timeout,
                             [done = std::move(done)](const Result<runtime::ExecResult>& result) {
                               if (!result.ok()) return done(result.status());
                               done(ProbeExecResult{result->exit_code, result->out + result->err});
                             });
  };
}

ProbeManager::Options Manager::ProbeOptions() {
  ProbeManager::Options options;
  options.run = [this](const Context& ctx, const ProbeTarget& target, Prober::Done done) {
    prober_.Run(ctx, target, std::move(done));
  };
  options.changed = [this](const std::string& uid) { Wake(uid); };
  options.failed = [this](const ProbeManager::Failed& failed) { Unhealthy(failed); };
  options.metrics = given_.metrics;
  return options;
}

void Manager::Unhealthy(const ProbeManager::Failed& failed) {
  const PodPtr pod = table_.FindByUid(failed.uid);
  if (pod == nullptr) return;
  given_.events.Record(
      *pod, EventKind::kWarning, "Unhealthy", "Probing",
      std::string(ProbeTypeName(failed.type)) +
          (failed.errored ? " probe errored and resulted in unknown state: " : " probe failed: ") +
          failed.message);
}

void Manager::Listed(const std::vector<runtime::PodState>& pods) {
  if (!table_.synced()) return;
  for (const std::string& uid : table_.AddOrphans(pods)) Wake(uid);
  const auto on_disk = volumes_.PodsOnDisk();
  if (!on_disk.ok()) return;
  for (const std::string& uid : table_.AddOrphans(*on_disk)) Wake(uid);
}

void Manager::SetClasses(Context& ctx) {
  const std::vector<PodPtr> pods = table_.Pods();
  std::vector<const Pod*> running;
  for (const PodPtr& pod : pods) {
    if (!IsTerminal(*pod)) running.push_back(pod.get());
  }
  // An error is not fatal: it only affects how Pods share CPU time.
  if (const Status status = cgroups_.SetClasses(running); !status.ok()) {
    COX_ERROR(ctx.log(), status, "Could not update the cgroups of the QoS classes");
  }
}

void Manager::PruneImageRecords(Context& ctx) {
  const Status status = records_.Prune([&]() -> Result<std::set<std::string>> {
    Context limited = ctx.WithTimeout(kImageListTime);
    COX_ASSIGN_OR_RETURN(const List<cri::v1::Image> images, given_.runtime.ListImages(limited));
    std::set<std::string> refs;
    for (const cri::v1::Image& image : images) refs.insert(image.id);
    return refs;
  });
  // An error is not fatal: unnecessary records stay until the next time.
  if (!status.ok() && !ctx.Done()) {
    COX_ERROR(ctx.log(), status, "Could not remove the records of images that are gone");
  }
}

Status Manager::Run(Context& ctx) {
  queue_->AddAfter(kImages, kImageRecordPeriod);
  Scope scope(ctx, "pods");
  for (int i = 0; i < options_.sync_threads; ++i) {
    COX_RETURN_IF_ERROR(
        scope.Go("pod-worker-" + std::to_string(i), [this](Context& work) { Work(work); }));
  }
  pleg_.Run(ctx);
  scope.Stop();
  scope.Wait();
  return {};
}

void Manager::Work(Context& ctx) {
  while (const auto item = queue_->Get(ctx)) {
    if (item->key == kRelist) {
      const Status status = pleg_.Relist(ctx);
      if (!status.ok()) queue_->AddRateLimited(item->key);
      queue_->Done(item->key);
      continue;
    }
    if (item->key == kClasses) {
      SetClasses(ctx);
      queue_->Done(item->key);
      continue;
    }
    if (item->key == kImages) {
      PruneImageRecords(ctx);
      queue_->AddAfter(item->key, kImageRecordPeriod);
      queue_->Done(item->key);
      continue;
    }
    const std::string& uid = item->key.name;
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    const SyncResult result = Process(ctx, uid);
    if (duration_ != nullptr) {
      duration_->Observe(std::chrono::duration<double>(ctx.clock().Monotonic() - began).count());
    }
    if (result.status.ok()) {
      queue_->Forget(item->key);
      if (result.again) {
        queue_->AddAfter(item->key, std::max<Clock::Duration>(*result.again - ctx.clock().Now(),
                                                              Clock::Duration()));
      }
    } else {
      if (!ctx.Done()) {
        COX_ERROR(ctx.log(), result.status, "Error syncing pod, skipping", {"podUID", uid});
      }
      queue_->AddRateLimited(item->key);
    }
    queue_->Done(item->key);
  }
}

SyncResult Manager::Process(Context& ctx, const std::string& uid) {
  auto node = given_.node ? given_.node() : nullptr;
  if (node != nullptr && table_.Rejects(uid, node.get())) {
    // The scheduler may have used a newer Node than the cache has: read it again before rejecting.
    Context limited = ctx.WithTimeout(kNodeTime);
    if (auto newest = given_.client.Get<core::v1::Node>(limited, {"", options_.node_name});
        newest.ok()) {
      node = std::make_shared<const core::v1::Node>(*std::move(newest));
    }
  }
  const auto work = table_.Take(uid, node.get(), ctx.clock().Now());
  if (!work) {
    // The Pod is only in the runtime: the next relist handles it.
    return {};
  }
  if (work->rejected_now) {
    const PodEnd& end = *work->order.end;
    given_.events.Record(*work->order.pod, EventKind::kWarning, end.reason, "Admitting",
                         end.message.substr(std::string_view("Pod was rejected: ").size()));
  }
  SyncResult result = worker_.Sync(ctx, work->order, *work->memory);
  if (result.forget) {
    table_.Erase(uid);
    pleg_.Forget(uid);
  }
  return result;
}

Pod Manager::WithNewestStatus(const Pod& pod) const {
  Pod out = pod;
  if (auto status = status_.Get(pod.metadata.uid)) out.status = *std::move(status);
  return out;
}

List<Pod> Manager::Pods() const {
  List<Pod> out;
  for (const PodPtr& pod : table_.Pods()) out.push_back(WithNewestStatus(*pod));
  return out;
}

PodPtr Manager::FindPod(const ObjectKey& key, const std::string& uid) const {
  const PodPtr pod = table_.Find(key, uid);
  return pod == nullptr ? nullptr : std::make_shared<const Pod>(WithNewestStatus(*pod));
}

Result<ContainerRef> Manager::FindContainer(Context& ctx, const ObjectKey& key,
                                            const std::string& uid, const std::string& container,
                                            bool previous) {
  const PodPtr pod = FindPod(key, uid);
  if (pod == nullptr) return Status::NotFound("pods " + Quote(key.name) + " not found");
  bool known = false;
  ForEachContainer(*pod, [&](const core::v1::Container& spec, ContainerKind) {
    known |= spec.name == container;
  });
  if (!known) {
    return Status::BadRequest("container " + container + " is not valid for pod " + key.name);
  }
  COX_ASSIGN_OR_RETURN(const runtime::PodState state, pleg_.Get(ctx, pod->metadata.uid));
  const core::v1::ContainerStatus* status = FindStatus(*pod, container);
  // lastState identifies the previous instance; for a container in backoff it is the newest one.
  const std::string before = previous && status != nullptr && status->lastState.terminated
                                 ? status->lastState.terminated->containerID
                                 : "";
  for (const runtime::ContainerState& life : state.containers) {
    if (life.name != container) continue;
    if (previous && !before.ends_with("://" + life.id)) continue;
    return ContainerRef{
        .id = life.id,
        .pod_uid = pod->metadata.uid,
        .attempt = life.attempt,
        .running = life.phase == runtime::ContainerState::Phase::kRunning,
        .log_path = PodLogDirectory(options_.pod_logs_dir, key.ns, key.name, pod->metadata.uid) +
                    "/" + ContainerLogName(container, life.attempt)};
  }
  if (previous) {
    return Status::BadRequest("previous terminated container " + Quote(container) + " in pod " +
                              Quote(key.name) + " not found");
  }
  const bool waits = status != nullptr && status->state.waiting;
  return Status::BadRequest(
      "container " + Quote(container) + " in pod " + Quote(key.name) +
      " is waiting to start: " + (waits ? status->state.waiting->reason : "ContainerCreating"));
}

Result<std::string> Manager::SandboxOf(Context& ctx, const ObjectKey& key, const std::string& uid) {
  const PodPtr pod = table_.Find(key, uid);
  if (pod == nullptr) return Status::NotFound("pods " + Quote(key.name) + " not found");
  COX_ASSIGN_OR_RETURN(const runtime::PodState state, pleg_.Get(ctx, pod->metadata.uid));
  for (const runtime::SandboxState& sandbox : state.sandboxes) {
    if (sandbox.ready) return sandbox.id;
  }
  return Status::NotFound("sandbox of pod " + Quote(key.name) + " not found");
}

}  // namespace

std::unique_ptr<PodManager> PodManager::Create(const Context& ctx, Options options, Parts parts) {
  return std::make_unique<Manager>(ctx, std::move(options), std::move(parts));
}

}  // namespace cox::kubelet
