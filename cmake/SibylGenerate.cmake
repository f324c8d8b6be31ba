# A source that a generate.py of ours writes:
#
#   sibyl_generate(SCRIPT WHAT OUTPUT COMMENT [LIST]...)
#
# runs SCRIPT with WHAT and OUTPUT, again when the script or one of the lists that it reads changes.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(sibyl_generate script what output comment)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${script} ${what} ${output}
    DEPENDS ${script} ${ARGN}
    COMMENT ${comment}
    VERBATIM)
endfunction()
