// The parser's class: one method per production of docs/spec/kernel-text.md, spread over parser*.cc by subject. Private
// to them. Recursive descent with one token of lookahead (two where a name may be an argument's); every recursion
// counts its depth.
#ifndef PALLADION_SEMANTICS_IR_PARSER_STATE_H_
#define PALLADION_SEMANTICS_IR_PARSER_STATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "semantics/base/status.h"
#include "semantics/ir/lexer.h"
#include "semantics/ir/module.h"

namespace palladion {

class Parser {
 public:
  Parser(std::string_view text, std::string_view path) : lexer_(text, path) {}
  absl::StatusOr<Module> Run();
  absl::StatusOr<AttrMap> RunAttrs();

 private:
  using Names = absl::flat_hash_map<absl::string_view, std::int32_t>;

  // Tokens (parser.cc). Every expectation that fails is one error with the place of the token it met.
  absl::Status Advance();
  absl::Status Error(const Token& at, std::string_view message) const;
  absl::Status Limit(const Token& at, std::string_view message) const;
  absl::Status Expected(std::string_view what, std::string_view remedy = "") const;  // at the current token
  absl::Status Expect(std::string_view punct);
  absl::Status Accept(std::string_view punct, bool* found);
  absl::Status AcceptWord(std::string_view word, bool* found);
  absl::Status ExpectName(TokenKind kind, std::string_view what, std::string* name);
  absl::Status ParseString(std::string* out);
  absl::Status ParseInt(std::int64_t* out);    // with sign
  absl::Status ParseCount(std::int64_t* out);  // 0 or more
  absl::Status ParseInts(std::vector<std::int64_t>* out);
  absl::Status CountNode();

  // Declarations and kernels (parser.cc, parser_kernel.cc).
  absl::Status ParseVersion();
  absl::Status ParseDecl(bool* found);
  absl::Status ParseLoc(Loc* loc);
  absl::Status ParseLine(std::string_view what, int* out);
  absl::Status ParseKernel();
  absl::Status ParseProp(Kernel* kernel, std::string_view word);
  absl::Status ParseOperand(Role role);
  absl::Status ParseBlock(BlockSpec* block);
  absl::Status ParseBlockDim(BlockDim* dim);
  absl::Status ParseGrid(Launch* launch);
  absl::Status ParseGridNames(Launch* launch);
  absl::Status ParseMesh(Launch* launch);
  absl::Status ParseBody();

  // Types, attributes, constants (parser_type.cc).
  absl::Status ParseType(Type* type);
  absl::Status ParseElement(Type* type);
  absl::Status ParseDims(Type* type);
  absl::Status ParseSpace(Space* space);
  absl::Status ParseDType(DType* dtype);
  absl::Status ParseAttrs(AttrMap* attrs);
  absl::Status ParseAttr(Attr* attr);
  absl::Status ParseAttrList(AttrList* list);
  absl::Status ParseAttrNumber(Attr* attr);
  absl::Status ParseDense(std::shared_ptr<const Tensor>* out);
  absl::Status ParseDenseList(const Token& start, DType dtype, std::int64_t count, std::vector<std::byte>* bytes);
  absl::Status ParseDenseHex(const Token& start, DType dtype, std::int64_t count, std::vector<std::byte>* bytes);

  // Regions, instructions, arguments, views (parser_instr.cc, parser_view.cc).
  absl::Status ParseFun(Region* region);
  absl::Status ParseRegion(Region* region);
  absl::Status ParseParam(Region* region);
  absl::Status ParseInstr(Instr* instr);
  absl::Status ParseBinds(std::vector<Token>* binds);
  absl::Status ParseArgs(std::string_view close, std::vector<Arg>* args);
  absl::Status ParseArg(Arg* arg);
  absl::Status ParseSelect(Arg* arg);
  absl::Status ParseLiteral(Literal* literal);
  absl::Status ParseView(Arg* arg);
  absl::Status ParseTransforms(std::vector<Transform>* transforms);
  absl::Status ParseTransform(Transform* transform);
  absl::Status ParseAt(std::vector<Index>* indices);
  absl::Status ParseIndex(Index* index);
  absl::Status ParseIndexAtom(Arg* arg);

  // Names. A value's name is visible from its definition to the end of its region, inner regions included, and may not
  // be defined again where it is visible.
  absl::Status Define(const Token& name, Type type, std::string label, ValueId* id);
  absl::Status Lookup(const Token& name, ValueId* id) const;
  void LeaveScope(std::size_t mark);
  absl::Status ParseOptionalLoc(LocId* loc);

  Lexer lexer_;
  Token token_;   // the current one
  Token second_;  // the one after it, once peeked
  bool peeked_ = false;
  absl::Status Peek();

  Module module_;
  Kernel* kernel_ = nullptr;
  Names files_, locs_, consts_, kernels_;
  Names values_;                          // visible now
  std::vector<absl::string_view> scope_;  // their names in the order of definition
  int region_depth_ = 0, attr_depth_ = 0, arg_depth_ = 0;
  int instructions_ = 0, nodes_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_PARSER_STATE_H_
