#include "emu/front/bridge/interrupt.h"

#include <gtest/gtest.h>

namespace palladion::bridge {
namespace {

volatile std::sig_atomic_t others_signals = 0;

TEST(InterruptListener, ReceivesOneSignalAndRestoresTheHandlerFromBefore) {
  struct ::sigaction mine = {}, before, found;
  mine.sa_handler = [](int) { others_signals = others_signals + 1; };
  ASSERT_EQ(0, ::sigaction(SIGINT, &mine, &before));
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptListener listener;
    EXPECT_FALSE(listener.interrupted());
    std::raise(signal);
    EXPECT_TRUE(listener.interrupted());
    ::sigaction(signal, nullptr, &found);
    EXPECT_EQ(SIG_DFL, found.sa_handler);  // a second one ends the process
  }
  EXPECT_EQ(0, others_signals);
  std::raise(SIGINT);
  EXPECT_EQ(1, others_signals);
  ::sigaction(SIGINT, &before, nullptr);
}

TEST(InterruptListener, WhatWasIgnoredStaysIgnored) {
  struct ::sigaction ignore = {}, before;
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(0, ::sigaction(SIGINT, &ignore, &before));
  {
    const InterruptListener listener;
    std::raise(SIGINT);
    EXPECT_FALSE(listener.interrupted());
  }
  ::sigaction(SIGINT, &before, nullptr);
}

TEST(InterruptEavesdropper, ReceivesSignalsWithAHandler) {
  struct ::sigaction mine = {}, before_int, before_term, found;
  mine.sa_handler = [](int) { others_signals = others_signals + 1; };
  ASSERT_EQ(0, ::sigaction(SIGINT, &mine, &before_int));
  ASSERT_EQ(0, ::sigaction(SIGTERM, &mine, &before_term));
  others_signals = 0;
  const std::int64_t before = InterruptCount();
  {
    const InterruptEavesdropper session(InterruptEavesdropper::For::kSession), run(InterruptEavesdropper::For::kRun);
    std::raise(SIGINT);
    std::raise(SIGTERM);
  }
  EXPECT_EQ(2, others_signals);
  EXPECT_EQ(before + 2, InterruptCount());
  std::raise(SIGINT);
  EXPECT_EQ(3, others_signals);
  EXPECT_EQ(before + 2, InterruptCount()) << "nothing listens any more";
  ::sigaction(SIGINT, &before_int, &found);
  EXPECT_EQ(mine.sa_handler, found.sa_handler);
  ::sigaction(SIGTERM, &before_term, nullptr);
}

TEST(InterruptEavesdropper, LeavesSignalsWithoutAHandlerAlone) {
  struct ::sigaction none = {}, before, found;
  none.sa_handler = SIG_DFL;
  ASSERT_EQ(0, ::sigaction(SIGTERM, &none, &before));
  {
    const InterruptEavesdropper run(InterruptEavesdropper::For::kRun);
    ::sigaction(SIGTERM, nullptr, &found);
    EXPECT_EQ(SIG_DFL, found.sa_handler) << "it ends the process, as it would without us";
  }
  ::sigaction(SIGTERM, &before, nullptr);
}

TEST(InterruptEavesdropper, AHandlerThatWasSetMeanwhileStays) {
  struct ::sigaction mine = {}, other = {}, before, found;
  mine.sa_handler = [](int) {};
  other.sa_handler = [](int) { others_signals = 100; };
  ASSERT_EQ(0, ::sigaction(SIGINT, &mine, &before));
  {
    const InterruptEavesdropper run(InterruptEavesdropper::For::kRun);
    ::sigaction(SIGINT, &other, nullptr);
  }
  ::sigaction(SIGINT, &before, &found);
  EXPECT_EQ(other.sa_handler, found.sa_handler);
}

}  // namespace
}  // namespace palladion::bridge
