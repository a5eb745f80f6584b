// SPDX-License-Identifier: Apache-2.0
#include "base/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/held_locks.h"

// The sanitizers follow the stack of each thread, so they are informed of every switch.
#if defined(__SANITIZE_ADDRESS__)
#define COX_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COX_FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define COX_FIBER_TSAN 1
#endif
#endif
#if defined(COX_FIBER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(COX_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace cox {

namespace fiber_stacks {

constexpr size_t kGuard = 64 << 10;

struct Stack {
  char* base = nullptr;  // of the guard pages
  int uses = 0;

  char* bottom() const { return base + kGuard; }
  char* top() const { return base + kGuard + kSize; }
};

}  // namespace fiber_stacks

namespace {

using fiber_stacks::kGuard;
using fiber_stacks::Stack;

// Not Boost's public classes: they end a fiber by returning from functions that ThreadSanitizer has
// seen on another stack. These functions only switch.
using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// The part of a stack whose memory is never released.
constexpr size_t kShallow = 128 << 10;

thread_local Fiber* current = nullptr;

Stack NewStack() {
  void* const base = ::mmap(nullptr, kGuard + fiber_stacks::kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  COX_CHECK(base != MAP_FAILED) << "no memory for the stack of a fiber";
  COX_CHECK(::mprotect(base, kGuard, PROT_NONE) == 0) << "guard pages of the stack of a fiber";
  return {static_cast<char*>(base)};
}

void FreeStack(const Stack& stack) { ::munmap(stack.base, kGuard + fiber_stacks::kSize); }

// The unused stacks. Not annotated, because Mutex depends on this file.
struct Pool {
  std::mutex mu;
  std::vector<Stack> free;
};

Pool& pool() {
  static Pool stacks;
  return stacks;
}

Stack TakeStack() {
  Pool& stacks = pool();
  {
    const std::lock_guard lock(stacks.mu);
    if (!stacks.free.empty()) {
      const Stack stack = stacks.free.back();  // the one that was used last is in the CPU's cache
      stacks.free.pop_back();
      return stack;
    }
  }
  return NewStack();
}

void ReturnStack(Stack stack) {
  if (++stack.uses >= fiber_stacks::kUsesPerTrim) {
    stack.uses = 0;
    ::madvise(stack.bottom(), fiber_stacks::kSize - kShallow, MADV_DONTNEED);
  }
  Pool& stacks = pool();
  {
    const std::lock_guard lock(stacks.mu);
    if (stacks.free.size() < fiber_stacks::kKept) {
      stacks.free.push_back(stack);
      return;
    }
  }
  FreeStack(stack);
}

}  // namespace

size_t fiber_stacks::kept() {
  Pool& stacks = pool();
  const std::lock_guard lock(stacks.mu);
  return stacks.free.size();
}

// The two sides of a switch: the fiber, and the thread that resumes it.
struct Fiber::Switch {
  fiber_stacks::Stack stack;
  fcontext_t fiber = nullptr;   // where the fiber continues
  fcontext_t thread = nullptr;  // where the thread continues
#if defined(COX_FIBER_ASAN)
  void* thread_fake_stack = nullptr;
  void* fiber_fake_stack = nullptr;
  const void* thread_bottom = nullptr;
  size_t thread_size = 0;
#endif
#if defined(COX_FIBER_TSAN)
  void* tsan_thread = nullptr;
  void* tsan_fiber = nullptr;
#endif

  // The first function on the stack of a fiber. Never returns.
  static void Enter(transfer_t from);
};

Fiber::Fiber(std::function<void()> work)
    : work_(std::move(work)), switch_(std::make_unique<Switch>()) {}

Fiber::~Fiber() {
  COX_CHECK(finished_ || work_ != nullptr) << "a fiber is destroyed while it waits";
}

Fiber* Fiber::Current() { return current; }

void Fiber::Switch::Enter(transfer_t from) {
  Fiber& self = *static_cast<Fiber*>(from.data);
  self.Entered(from.fctx);
  std::exchange(self.work_, nullptr)();
  self.finished_ = true;
  self.Leave();
  __builtin_unreachable();
}

void Fiber::Resume() {
  COX_CHECK(current == nullptr) << "a fiber resumes another one";
  Switch& side = *switch_;
  if (side.fiber == nullptr) {
    side.stack = TakeStack();
    side.fiber = make_fcontext(side.stack.top(), fiber_stacks::kSize, Switch::Enter);
#if defined(COX_FIBER_TSAN)
    side.tsan_fiber = __tsan_create_fiber(0);
#endif
  }
  current = this;
#if defined(COX_FIBER_ASAN)
  __sanitizer_start_switch_fiber(&side.thread_fake_stack, side.stack.bottom(), fiber_stacks::kSize);
#endif
#if defined(COX_FIBER_TSAN)
  side.tsan_thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(side.tsan_fiber, 0);
#endif
  side.fiber = jump_fcontext(side.fiber, this).fctx;
#if defined(COX_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(side.thread_fake_stack, nullptr, nullptr);
#endif
  current = nullptr;
  if (!finished_) return;
#if defined(COX_FIBER_TSAN)
  __tsan_destroy_fiber(side.tsan_fiber);
#endif
  ReturnStack(side.stack);
}

void Fiber::Entered(void* thread) {
  switch_->thread = thread;
#if defined(COX_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(switch_->fiber_fake_stack, &switch_->thread_bottom,
                                  &switch_->thread_size);
#endif
}

void Fiber::Leave() {
  Switch& side = *switch_;
#if defined(COX_FIBER_ASAN)
  // Without a place for it, the memory that stands in for the stack is freed.
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &side.fiber_fake_stack, side.thread_bottom,
                                 side.thread_size);
#endif
#if defined(COX_FIBER_TSAN)
  __tsan_switch_to_fiber(side.tsan_thread, 0);
#endif
  Entered(jump_fcontext(side.thread, nullptr).fctx);
}

void Fiber::Suspend() {
  CheckMayWait();
  Leave();
}

void CheckMayWait() {
  COX_CHECK(HeldLocks() == 0) << "a function waits while its caller holds " << HeldLocks()
                              << " Mutexes";
}

}  // namespace cox
