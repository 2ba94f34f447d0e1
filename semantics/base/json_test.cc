// Strings as RFC 8259 section 7 quotes them, wherever in a text a character stands that needs it, and the commas of
// objects and lists. The expected texts are written from the RFC. That whole reports are read by others and hold their
// schema is asked in Python.
#include "semantics/base/json.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

TEST(JsonString, QuotesWhatMustBeAndNothingElse) {
  EXPECT_EQ("\"\"", JsonString(""));
  EXPECT_EQ("\" ~az/AZ\"", JsonString(" ~az/AZ"));
  EXPECT_EQ("\"\\\"a\\\\b\\\"\"", JsonString("\"a\\b\""));
  EXPECT_EQ("\"a\\u000ab\\u0009\\u0000\"", JsonString(std::string_view("a\nb\t\0", 5)));
  EXPECT_EQ("\"\\u007f\\u0080x\"", JsonString("\x7f\xc2\x80x"));
  EXPECT_EQ("\"\\u202ea\"", JsonString("\xe2\x80\xae"
                                       "a"));
}

TEST(JsonString, Utf8StaysAndOtherBytesAreReplaced) {
  EXPECT_EQ("\"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82z\"", JsonString("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82z"));
  EXPECT_EQ("\"a\\ufffdb\\ufffd\"", JsonString("a\xff\x62\xc3"));
}

// The least and the greatest characters of each length.
TEST(JsonString, Utf8OfEveryLengthStays) {
  for (const std::string character : {"\xc2\xa1", "\xdf\xbf", "\xe0\xa4\x85", "\xef\xbf\xbd", "\xf0\x9f\x99\x82"})
    EXPECT_EQ("\"" + character + "\"", JsonString(character));
}

TEST(ForScript, NothingInItEndsTheElement) {
  EXPECT_EQ(R"({"a < b": "\u003c/script>\u003c!--", "c": "<"})", ForScript(R"({"a < b": "</script><!--", "c": "<"})"));
  EXPECT_EQ("\\u003c/script>", ForScript("</script>"));
  EXPECT_EQ("<", ForScript("<"));
}

TEST(JsonWriter, PutsCommasBetweenMembersOnly) {
  JsonWriter json;
  json.Open('{').Key("a\"").Open('[').Close(']');
  json.Key("b").Open('[').String("x").Number(-2).Open('{').Close('}').Bool(true).Null().Close(']');
  json.Key("c").String("").Close('}');
  EXPECT_EQ(R"({"a\"": [], "b": ["x", -2, {}, true, null], "c": ""})", json.Take());
}

}  // namespace
}  // namespace palladion
