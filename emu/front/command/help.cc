#include "emu/front/command/help.h"

#include <algorithm>

#include "emu/front/options/check_options.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::command {
namespace {

constexpr std::size_t kColumns = 100;

// Markdown as plain text: [words](where) is its words, and back-quotes go.
std::string Plain(std::string_view markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::size_t close = markdown[i] == '[' ? markdown.find("](", i) : std::string_view::npos;
    const std::size_t end = close == std::string_view::npos ? close : markdown.find(')', close);
    if (end != std::string_view::npos && markdown.substr(i, close - i).find('`') == std::string_view::npos) {
      text += markdown.substr(i + 1, close - i - 1);
      i = end;
    } else if (markdown[i] != '`') {
      text += markdown[i];
    }
  }
  return text;
}

// Words in lines of kColumns, each after `indent` spaces.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = kColumns;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (column + 1 + word.size() > kColumns) {
      Append(&out, out.empty() ? "" : "\n", std::string(indent, ' '), word);
      column = indent + word.size();
    } else {
      Append(&out, " ", word);
      column += 1 + word.size();
    }
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out + "\n";
}

std::string Spelled(const Option& option) {
  return Cat(option.letter == 0 ? "" : Cat("-", std::string(1, option.letter), ", "), "--", option.name,
             option.value.empty() ? "" : " ", option.value);
}

}  // namespace

std::string HelpText() {
  std::string text = "usage: palladion COMMAND ...\n";
  for (const CommandInfo& command : AllCommands()) {
    const std::string usage = Cat("  ", command.name, " ", command.words);
    Append(&text, usage, std::string(usage.size() < 36 ? 36 - usage.size() : 1, ' '), command.summary, "\n");
  }
  return text +
         "  export FILE.py:NAME               kernel text of a Python file; with the Python package installed\n"
         "palladion help COMMAND, or palladion COMMAND --help: its options; palladion --version\n"
         "exit codes: 0 clean, 1 defect found, 2 outputs differ between schedules, 3 unsupported feature met,\n"
         "4 usage or malformed input, 5 internal error, 6 budget or a limit spent, or interrupted\n";
}

std::string HelpText(const CommandInfo& command) {
  std::string text = Cat("usage: palladion ", command.name, command.words.empty() ? "" : " ", command.words,
                         command.options.empty() ? "" : " [OPTION]...", "\n", Wrapped(Plain(command.summary), 0));
  for (const Option& option : command.options)
    Append(&text, "\n  ", Spelled(option), "\n", Wrapped(Plain(option.help), 6));
  return text;
}

std::string HelpJson() {
  JsonWriter json;
  json.Open('{').Key("commands").Open('[');
  for (const CommandInfo& command : AllCommands()) {
    json.Open('{').Key("name").String(command.name).Key("words").String(command.words);
    json.Key("summary").String(command.summary).Key("options").Open('[');
    for (const Option& option : command.options) {
      json.Open('{').Key("name").String(option.name).Key("value").String(option.value).Key("help").String(option.help);
      json.Key("letter").String(option.letter == 0 ? std::string() : std::string(1, option.letter)).Close('}');
    }
    json.Close(']').Close('}');
  }
  json.Close(']').Key("check_options").Open('[');
  for (const options::CheckOption& option : options::CheckOptionTable()) {
    json.Open('{').Key("name").String(option.name).Key("kind").String(options::Name(option.kind));
    json.Key("values").String(option.values).Key("fallback").String(option.fallback);
    json.Key("keyword").Bool(option.on(options::kKeyword)).Key("of_runs").Bool(option.on(options::kOfRuns));
    json.Key("replays").Bool(option.on(options::kReplays)).Key("help").String(option.help).Close('}');
  }
  return json.Close(']').Close('}').Take() + "\n";
}

}  // namespace palladion::command
