# Compile options and the functions by which every directory declares its targets.

find_program(TIDEMARK_CCACHE ccache)
if(TIDEMARK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${TIDEMARK_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TIDEMARK_CCACHE})
endif()

add_library(tidemark_options INTERFACE)
target_include_directories(tidemark_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tidemark_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Werror>)
# GCC 12 warns of a string's own copying when it optimises (GCC bug 105651).
target_compile_options(tidemark_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # GCC sees ghosts in <regex> and <functional> under sanitizers
  endif()
  if(TIDEMARK_FUZZ)
    add_link_options(-fsanitize=address,undefined)
  else()
    add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
  endif()
endif()

# tidemark_core_library(NAME SOURCES... [DEPS ...]): a part of the core. No exceptions, no RTTI.
function(tidemark_core_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tidemark_options ${ARG_DEPS})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  if(TIDEMARK_WASM)
    target_compile_options(${name} PRIVATE -O3 -flto)
  endif()
endfunction()

# tidemark_library(NAME SOURCES... [DEPS ...] [PRIVATE ...]): a part of the native program. PRIVATE: third-party
# libraries that stay inside this directory's sources.
function(tidemark_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tidemark_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE})
endfunction()

# tidemark_test(NAME SOURCES... [DEPS ...]): one Catch2 executable, one ctest entry. tests/catch.hpp is the shim header.
function(tidemark_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "DEPS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tidemark_options tidemark_test_main ${ARG_DEPS})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
