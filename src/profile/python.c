#include "python.h"
int32_t python_site(int32_t site) { return site; }
