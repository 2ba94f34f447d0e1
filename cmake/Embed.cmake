# INPUT's text as a character array named SYMBOL in the header OUTPUT; run by palladion_embed. Bytes, not a string literal: a
# compiler may limit a literal's length.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#pragma once\n\nnamespace palladion {\n\ninline constexpr unsigned char ${SYMBOL}Bytes[] = {${bytes}0};\n"
  "inline const char* const ${SYMBOL} = reinterpret_cast<const char*>(${SYMBOL}Bytes);\n\n}  // namespace palladion\n")
