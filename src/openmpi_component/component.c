/* The component: its name and version, its priority, and a module for each communicator that Sibyl
 * may serve; see component.h.
 *
 * The priority is 0 unless the user sets it (--mca coll_sibyl_priority 90), and then Sibyl stands
 * aside: where the component lies among Open MPI's own, nobody is served who has not asked for it.
 */
#include "component.h"

#include <opal/mca/base/mca_base_var.h>
#include <string.h>

#include "sibyl/version.h"

static int priority;

static int register_parameters(void);
static int open_component(void);
static int begin(bool progress_threads, bool threads);
static mca_coll_base_module_t* module_for(MPI_Comm comm, int* wanted);

/* NOLINTNEXTLINE(readability-identifier-naming): Open MPI looks for this name */
OMPI_MODULE_DECLSPEC const mca_coll_base_component_t mca_coll_sibyl_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "sibyl",
            MCA_BASE_MAKE_VERSION(component, SIBYL_VERSION_MAJOR, SIBYL_VERSION_MINOR,
                                  SIBYL_VERSION_PATCH),
            .mca_open_component = open_component,
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = begin,
    .collm_comm_query = module_for,
};

static int register_parameters(void) {
  const int index = mca_base_component_var_register(
      &mca_coll_sibyl_component.collm_version, "priority",
      "Priority of Sibyl's collectives; 0: they are not used", MCA_BASE_VAR_TYPE_INT, NULL, 0, 0,
      OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority);
  return index < 0 ? index : OMPI_SUCCESS;
}

/* In MPI_Init, before ranks exchange what they publish. */
static int open_component(void) {
  if (priority > 0 && sibyl_component_load()) sibyl_component_mark();
  return OMPI_SUCCESS;
}

static int begin(bool progress_threads, bool threads) {
  (void)progress_threads;
  (void)threads;
  return priority > 0 && sibyl_component_load() ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

/* ---- Modules -------------------------------------------------------------------------------- */

static int enable(mca_coll_base_module_t* module, MPI_Comm comm) {
  struct sibyl_module* const own = (struct sibyl_module*)module;
  own->comm = comm;
  if (!sibyl_component_keep(own)) return OMPI_ERR_NOT_SUPPORTED;
  if (ompi_mpi_state == OMPI_MPI_STATE_INIT_COMPLETED) sibyl_component_new(comm);
  return OMPI_SUCCESS;
}

static void construct(struct sibyl_module* module) {
  module->comm = MPI_COMM_NULL;
  memset(&module->next, 0, sizeof module->next);
}

OBJ_CLASS_DECLARATION(sibyl_module_t);
typedef struct sibyl_module sibyl_module_t;
OBJ_CLASS_INSTANCE(sibyl_module_t, mca_coll_base_module_t, construct, sibyl_component_release);

static mca_coll_base_module_t* module_for(MPI_Comm comm, int* wanted) {
  *wanted = priority;
  /* One rank alone: Open MPI's own calls there would be most. */
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  if (sibyl_component_makes_private(comm->c_local_group)) return NULL; /* not served by itself */
  struct sibyl_module* const module = OBJ_NEW(sibyl_module_t);
  if (module == NULL) return NULL;
  module->super.coll_module_enable = enable;
  sibyl_component_fill(&module->super);
  return &module->super;
}
