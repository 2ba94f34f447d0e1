// Texts as XML and as URIs. The expected texts are written from the recommendation and from RFC 3986.
#include "semantics/base/escapes.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

TEST(XmlEscaped, WhatHasAMeaningThereIsItsNumber) {
  EXPECT_EQ("a&#38;b&#60;c&#62;d&#34;e&#10;f&#9;g", XmlEscaped("a&b<c>d\"e\nf\tg"));
  EXPECT_EQ("it's 1 = 1; \xc3\xa4", XmlEscaped("it's 1 = 1; \xc3\xa4"));
  EXPECT_EQ("???\xef\xbf\xbd", XmlEscaped("?\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd"));
}

}  // namespace
}  // namespace palladion
