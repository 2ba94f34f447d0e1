#include "emu/interrupt.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

volatile std::sig_atomic_t others_signals = 0;

TEST(InterruptListener, HearsOneSignalAndPutsBackWhoListenedBefore) {
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

}  // namespace
}  // namespace palladion
