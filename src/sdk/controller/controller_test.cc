// SPDX-License-Identifier: Apache-2.0
#include "sdk/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "api/core/v1.h"
#include "base/await_stop.h"
#include "base/testing/test_clock.h"

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

// Sends deltas of the test to its handler.
class FakeInformer final : public SharedInformer {
 public:
  void Send(const Delta& delta) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return handler_ != nullptr; });
    handler_(delta);
  }
  void SendPod(const std::string& name, Delta delta = {}) {
    core::v1::Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = name;
    delta.after = std::make_shared<const Object>(Object::Of(pod));
    Send(delta);
  }

  const Resource& resource() const override { return resource_; }
  bool HasSynced() const override { return true; }
  Status WaitSynced(Context&) const override { return {}; }
  InformerHandle AddHandler(DeltaHandler handler, HandlerOptions) override {
    class Handle final : public InformerHandle::Registration {
     public:
      explicit Handle(FakeInformer& informer) : informer_(informer) {}
      ~Handle() override {
        MutexLock lock(informer_.mu_);
        informer_.handler_ = [](const Delta&) {};
      }
      bool synced() const override { return true; }
      Status WaitForSync(Context&) const override { return {}; }

     private:
      FakeInformer& informer_;
    };
    MutexLock lock(mu_);
    handler_ = std::move(handler);
    changed_.NotifyAll();
    return InformerHandle(std::make_unique<Handle>(*this));
  }
  InformerHandle AddObserver(ChangeObserver) override { return {}; }
  void BetweenChanges(const std::function<void()>& read) const override { read(); }
  void AddIndex(std::string, IndexFunction) override {}
  ObjectPtr Get(const ObjectKey&) const override { return nullptr; }
  std::vector<ObjectPtr> List(std::string_view, const labels::Selector&) const override {
    return {};
  }
  void ForEach(std::string_view, const std::function<bool(const ObjectPtr&)>&) const override {}
  std::vector<ObjectPtr> Find(std::string_view, std::string_view) const override { return {}; }
  void Visit(std::string_view, std::string_view,
             const std::function<bool(const Object&)>&) const override {}
  size_t size() const override { return 0; }
  std::string resource_version() const override { return ""; }
  size_t bytes() const override { return 0; }
  void ObserveWrite(ObjectPtr, int64_t, std::string_view) override {}
  void ObserveDelete(const ObjectKey&, std::string_view) override {}

 private:
  const Resource resource_ = Resource::Of<core::v1::Pod>();
  Mutex mu_;
  CondVar changed_;
  DeltaHandler handler_ COX_GUARDED_BY(mu_);
};

class ControllerTest : public testing::Test {
 protected:
  ~ControllerTest() override { Stop(); }

  void Start(ReconcileFunction reconcile, ControllerOptions options = {},
             std::vector<Source> sources = {}) {
    ControllerSpec spec{.name = "web",
                        .options = std::move(options),
                        .watches = {},
                        .sources = std::move(sources),
                        .reconciler = MakeReconciler([this, reconcile = std::move(reconcile)](
                                                         Context& run, const ObjectKey& key) {
                          Result<ReconcileResult> result = reconcile(run, key);
                          MutexLock lock(mu_);
                          reconciled_.push_back(key.name);
                          changed_.NotifyAll();
                          return result;
                        })};
    spec.watches.push_back({informer_, OwnKey(), {}});
    controller_ = std::make_unique<Controller>(clock_, metrics_, std::move(spec));
    ASSERT_TRUE(
        scope_.Go("controller", [this](Context& run) { ended_ = controller_->Run(run); }).ok());
  }
  void Stop() {
    scope_.Stop();
    scope_.Wait();
  }
  std::vector<std::string> WaitForReconciles(size_t n) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return reconciled_.size() >= n; });
    return reconciled_;
  }
  double Metric(const std::string& name, const std::string& labels = R"({controller="web"})") {
    const std::string text = metrics_.Render();
    const size_t at = text.find("\n" + name + labels + " ");
    if (at == text.npos) return -1;
    return std::stod(text.substr(at + 2 + name.size() + labels.size()));
  }
  double CountOf(const std::string& result) {
    return Metric("controller_runtime_reconcile_total",
                  R"({controller="web",result=")" + result + R"("})");
  }

  static Result<ReconcileResult> Fine(Context&, const ObjectKey&) {
    return ReconcileResult::Done();
  }

  TestClock clock_;
  Context ctx_{clock_};
  MetricsRegistry metrics_;
  std::shared_ptr<FakeInformer> informer_ = std::make_shared<FakeInformer>();
  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> reconciled_ COX_GUARDED_BY(mu_);
  std::unique_ptr<Controller> controller_;
  Status ended_;
  Scope scope_{ctx_, "test"};
};

TEST_F(ControllerTest, ReconcilesChangedObjectsAndCountsThem) {
  Start(Fine);
  informer_->SendPod("a");
  informer_->SendPod("b");
  EXPECT_THAT(WaitForReconciles(2), ElementsAre("a", "b"));
  Stop();
  EXPECT_TRUE(ended_.ok());
  EXPECT_EQ(CountOf("success"), 2);
  EXPECT_EQ(CountOf("error"), 0);
  EXPECT_EQ(Metric("controller_runtime_reconcile_time_seconds_count"), 2);
  EXPECT_EQ(Metric("controller_runtime_max_concurrent_reconciles"), 1);
  EXPECT_EQ(Metric("controller_runtime_active_workers"), 0);
}

TEST_F(ControllerTest, ChangesComeBeforeInitialListsAndResyncs) {
  Context gate = ctx_.Child();
  Start([&](Context&, const ObjectKey&) -> Result<ReconcileResult> {
    (void)AwaitStop(gate);
    return ReconcileResult::Done();
  });
  informer_->SendPod("first");
  while (Metric("controller_runtime_active_workers") != 1) std::this_thread::yield();
  informer_->SendPod("initial", {.initial = true});
  informer_->SendPod("resync", {.type = Delta::Type::kResync});
  informer_->SendPod("news");
  gate.Stop();
  EXPECT_THAT(WaitForReconciles(4), ElementsAre("first", "news", "initial", "resync"));
}

TEST_F(ControllerTest, FailuresAreRetriedWithBackoff) {
  std::atomic<int> calls = 0;
  Start(
      [&](Context&, const ObjectKey&) -> Result<ReconcileResult> {
        if (++calls <= 2) return Status::Internal("not yet");
        return ReconcileResult::Done();
      },
      {.limiter = ExponentialBackoff(seconds(1))});
  informer_->SendPod("a");
  WaitForReconciles(1);
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(1));
  WaitForReconciles(2);
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(2));
  WaitForReconciles(3);
  Stop();
  EXPECT_EQ(CountOf("error"), 2);
  EXPECT_EQ(CountOf("success"), 1);
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total"), 2);
  EXPECT_EQ(Metric("workqueue_retries_total", R"({controller="web",name="web"})"), 2);
}

TEST_F(ControllerTest, TerminalErrorIsNotRetried) {
  Start([](Context&, const ObjectKey& key) -> Result<ReconcileResult> {
    if (key.name == "bad") return ReconcileResult::GiveUp(Status::Invalid("never"));
    return ReconcileResult::Done();
  });
  informer_->SendPod("bad");
  informer_->SendPod("good");
  WaitForReconciles(2);
  Stop();
  EXPECT_EQ(CountOf("error"), 1);
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total"), 1);
  EXPECT_EQ(Metric("controller_runtime_terminal_reconcile_errors_total"), 1);
  EXPECT_EQ(Metric("workqueue_retries_total", R"({controller="web",name="web"})"), 0);
}

TEST_F(ControllerTest, RequeuesAfterTheRequestedTime) {
  Start([](Context&, const ObjectKey&) -> Result<ReconcileResult> {
    return ReconcileResult::After(seconds(60));
  });
  informer_->SendPod("a");
  WaitForReconciles(1);
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(60));
  WaitForReconciles(2);
  Stop();
  EXPECT_GE(CountOf("requeue_after"), 2);
}

TEST_F(ControllerTest, ExceptionsAreCaught) {
  Start([](Context&, const ObjectKey& key) -> Result<ReconcileResult> {
    if (key.name == "bad") throw std::runtime_error("boom");
    return ReconcileResult::Done();
  });
  informer_->SendPod("bad");
  informer_->SendPod("good");
  WaitForReconciles(1);
  Stop();
  EXPECT_EQ(Metric("controller_runtime_reconcile_panics_total"), 1);
  EXPECT_EQ(CountOf("error"), 1);
  EXPECT_EQ(CountOf("success"), 1);
}

TEST_F(ControllerTest, ReconcileTimeoutStopsTheContext) {
  Start(
      [](Context& run, const ObjectKey&) -> Result<ReconcileResult> {
        COX_RETURN_IF_ERROR(run.Sleep(seconds(3600)));
        return ReconcileResult::Done();
      },
      {.reconcile_timeout = seconds(5)});
  informer_->SendPod("slow");
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(5));
  WaitForReconciles(1);
  Stop();
  EXPECT_EQ(Metric("controller_runtime_reconcile_timeouts_total"), 1);
  EXPECT_EQ(CountOf("error"), 1);
}

TEST_F(ControllerTest, IgnoresOwnWritesAndSetsTheWriter) {
  std::string writer;
  Start(
      [&](Context& run, const ObjectKey&) -> Result<ReconcileResult> {
        writer = run.Value(kWriter);
        return ReconcileResult::Done();
      },
      {.ignore_own_writes = true});
  informer_->SendPod("own", {.own_writer = "web"});
  informer_->SendPod("other", {.own_writer = "db"});
  EXPECT_THAT(WaitForReconciles(1), ElementsAre("other"));
  Stop();
  EXPECT_EQ(writer, "web");
}

TEST_F(ControllerTest, LogLinesContainTheControllerAndTheObject) {
  struct Lines final : LogSink {
    void Write(std::string_view line) override { text += line; }
    std::string text;
  } lines;
  Logging logging(clock_, LogFormat::kText, lines);
  {
    ControllerSpec spec{.name = "web",
                        .options = {},
                        .watches = {{informer_, OwnKey(), {}}},
                        .sources = {},
                        .reconciler = MakeReconciler([&](Context& run, const ObjectKey&) {
                          MutexLock lock(mu_);
                          reconciled_.push_back("x");
                          changed_.NotifyAll();
                          (void)run;
                          return Result<ReconcileResult>(Status::Internal("broke"));
                        })};
    Controller logged(clock_, metrics_, std::move(spec));
    Context named = ctx_.WithLogger(logging.For("op"));
    Scope own(named, "own");
    ASSERT_TRUE(own.Go("controller", [&](Context& run) { (void)logged.Run(run); }).ok());
    informer_->SendPod("a");
    clock_.WaitForWaiters(1);  // the failure has been logged, and the retry is delayed
    own.Stop();
    own.Wait();
  }
  EXPECT_THAT(lines.text, HasSubstr(R"("Reconcile failed" err="InternalError: broke")"));
  EXPECT_THAT(lines.text, HasSubstr(R"(controller="web")"));
  EXPECT_THAT(lines.text, HasSubstr(R"(namespace="default" name="a" reconcileID=")"));
}

TEST_F(ControllerTest, ConflictsAreLoggedAsErrorsOnlyIfTheyRepeat) {
  struct Lines final : LogSink {
    void Write(std::string_view line) override { text += line; }
    std::string text;
  } lines;
  Logging logging(clock_, LogFormat::kText, lines);
  // Whether an error was logged before each attempt; the only worker writes both.
  std::vector<bool> errors_before;
  std::atomic<size_t> attempts = 0;
  ControllerSpec spec{.name = "web",
                      .options = {},
                      .watches = {{informer_, OwnKey(), {}}},
                      .sources = {},
                      .reconciler = MakeReconciler([&](Context&, const ObjectKey&) {
                        errors_before.push_back(lines.text.find("Reconcile") != std::string::npos);
                        ++attempts;
                        return Result<ReconcileResult>(Status::Conflict("modified"));
                      })};
  Controller logged(clock_, metrics_, std::move(spec));
  Context named = ctx_.WithLogger(logging.For("op"));
  Scope own(named, "own");
  ASSERT_TRUE(own.Go("controller", [&](Context& run) { (void)logged.Run(run); }).ok());
  informer_->SendPod("a");
  while (attempts < 7) {
    clock_.WaitForWaiters(1);  // for the delay of the next attempt
    clock_.Advance(seconds(1));
  }
  own.Stop();
  own.Wait();
  errors_before.resize(7);
  EXPECT_THAT(errors_before, ElementsAre(false, false, false, false, false, false, true));
  EXPECT_THAT(lines.text, HasSubstr(R"("Reconcile failed" err="Conflict: modified")"));
}

TEST_F(ControllerTest, SourcesAddKeysAndTheirErrorsEndTheController) {
  std::atomic<int> rounds = 0;
  Start(Fine, {},
        {Every(seconds(10),
               [&] {
                 ++rounds;
                 return std::vector<ObjectKey>{{"default", "timed"}};
               }),
         [](Context& run, WorkQueue&) -> Status {
           COX_RETURN_IF_ERROR(run.Sleep(seconds(15)));
           return Status::Unavailable("the channel broke");
         }});
  WaitForReconciles(1);
  clock_.WaitForWaiters(2);
  clock_.Advance(seconds(10));
  WaitForReconciles(2);
  clock_.WaitForWaiters(2);
  clock_.Advance(seconds(5));
  scope_.Wait();
  EXPECT_EQ(rounds, 2);
  EXPECT_THAT(ended_.message(), HasSubstr("a source of the controller web: the channel broke"));
}

TEST_F(ControllerTest, WorkersRunConcurrently) {
  std::atomic<int> inside = 0;
  Start(
      [&](Context& run, const ObjectKey&) -> Result<ReconcileResult> {
        ++inside;
        while (inside < 3 && !run.Done()) std::this_thread::yield();
        return ReconcileResult::Done();
      },
      {.max_concurrent_reconciles = 3});
  for (const char* name : {"a", "b", "c"}) informer_->SendPod(name);
  EXPECT_EQ(WaitForReconciles(3).size(), 3u);
}

}  // namespace
}  // namespace cox::sdk
