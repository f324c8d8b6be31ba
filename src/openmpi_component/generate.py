#!/usr/bin/env python3
"""Writes the functions of the component's modules from the shim's preload/functions.txt.

generate.py module OUTPUT.c: for each function that Sibyl serves, one that hands the call to Sibyl,
one to which Sibyl hands it back, and what keeps and releases those below. Standard library only: it
runs in every build.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

from tables import C_TYPES, read_functions  # noqa: E402 - a folder beside this one


def functions_of(function):
    short = function.short
    parameters = ", ".join(f"{C_TYPES[a.kind]} {a.name}" for a in function.arguments)
    names = ", ".join(a.name for a in function.arguments)
    below = f"own->next.coll_{short}({names}, own->next.coll_{short}_module)"
    return f"""
static int (*serve_{short})({parameters});

static int module_{short}({parameters}, mca_coll_base_module_t* module) {{
  struct sibyl_module* const own = (struct sibyl_module*)module;
  if (sibyl_component_is_handed_back(comm, __builtin_frame_address(0))) {{
    struct sibyl_module* const passed = sibyl_component_passed;
    sibyl_component_passed = own;
    const int result = {below};
    sibyl_component_passed = passed;
    return result;
  }}
  if (sibyl_component_passed == own || !sibyl_component_serves(comm)) return {below};
  struct sibyl_module* const before = sibyl_component_current;
  sibyl_component_current = own;
  const int result = serve_{short}({names});
  sibyl_component_current = before;
  return result;
}}

static int back_{short}({parameters}) {{
  const struct sibyl_module* const own = sibyl_component_current;
  if (own != NULL && own->comm == comm) return {below};
  sibyl_component_handed_back = comm;
  sibyl_component_handed_from = __builtin_frame_address(0);
  const int result = P{function.name}({names});
  sibyl_component_handed_back = NULL;
  return result;
}}"""


def body(head, lines, last=None):
    return "\n".join([f"\n{head} {{", *lines, *([f"  {last}"] if last else []), "}"])


def module_source(functions):
    shorts = [function.short for function in functions]
    out = [
        "/* The functions of the component's modules.",
        " * Written by generate.py from preload/functions.txt: change that. */",
        '#include "component.h"\n\n#include <string.h>',
        *[functions_of(function) for function in functions],
        body(
            "void sibyl_component_fill(mca_coll_base_module_t* module)",
            [f"  module->coll_{short} = module_{short};" for short in shorts],
        ),
        body(
            "int sibyl_component_keep(struct sibyl_module* module)",
            ["  const mca_coll_base_comm_coll_t* const now = module->comm->c_coll;"]
            + [f"  if (now->coll_{short} == NULL) return 0;" for short in shorts]
            + [
                f"  module->next.coll_{short} = now->coll_{short};\n"
                f"  module->next.coll_{short}_module = now->coll_{short}_module;\n"
                f"  OBJ_RETAIN(now->coll_{short}_module);"
                for short in shorts
            ],
            "return 1;",
        ),
        body(
            "void sibyl_component_release(struct sibyl_module* module)",
            ["  if (sibyl_component_current == module) sibyl_component_current = NULL;"]
            + [
                f"  if (module->next.coll_{short}_module != NULL) {{\n"
                f"    OBJ_RELEASE(module->next.coll_{short}_module);\n  }}"
                for short in shorts
            ],
        ),
        body(
            "void* sibyl_component_back(const char* symbol)",
            [
                f'  if (strcmp(symbol, "{f.name}") == 0) return (void*)&back_{f.short};'
                for f in functions
            ],
            "return NULL;",
        ),
        body(
            "int sibyl_component_look_up(void* (*lookup)(const char* symbol))",
            [
                f'  *(void**)&serve_{function.short} = lookup("{function.name}");\n'
                f"  if (serve_{function.short} == NULL) return 0;"
                for function in functions
            ],
            "return 1;",
        ),
    ]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("module",))
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    functions = read_functions(HERE.parent / "preload" / "functions.txt")[0]
    served = [f for f in functions if not f.counted and f.name.startswith("MPI_")]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(module_source(served))


if __name__ == "__main__":
    main()
