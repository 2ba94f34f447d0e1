#include "emu/front/reports/attr_json.h"

namespace palladion::reports {
namespace {

struct AttrWriter {
  JsonWriter& json;
  void operator()(AttrNone) const { json.Null(); }
  void operator()(bool value) const { json.Bool(value); }
  void operator()(std::int64_t value) const { json.Number(value); }
  void operator()(const std::string& value) const { json.String(value); }
  void operator()(double value) const { json.Open('{').Key("float").String(ToString(Attr{.value = value})).Close('}'); }
  void operator()(const AttrIdent& ident) const { json.Open('{').Key("word").String(ident.name).Close('}'); }
  void operator()(const AttrList& list) const {
    json.Open('[');
    for (const Attr& one : list) std::visit(*this, one.value);
    json.Close(']');
  }
  void operator()(const AttrMap& map) const {
    json.Open('{').Key("map");
    WriteAttrs(map, json);
    json.Close('}');
  }
};

}  // namespace

void WriteAttrs(const AttrMap& attrs, JsonWriter& json) {
  json.Open('{');
  for (const auto& [name, attr] : attrs) {
    json.Key(name);
    std::visit(AttrWriter{json}, attr.value);
  }
  json.Close('}');
}

}  // namespace palladion::reports
