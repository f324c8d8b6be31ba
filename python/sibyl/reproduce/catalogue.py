"""All published tables and figures that can be repeated here."""

from sibyl.reproduce import (
    clairvoyant,
    collisions,
    collisions_on_cluster,
    cross_validation,
    elapsed,
    exscan,
    exscan_measured,
    fft,
    fft_on_cluster,
    figures_on_cluster,
    gatherv,
    gatherv_claims,
    knowing,
    knowing_on_cluster,
    on_cluster,
    programs,
    rack,
    reduce,
    reduce_on_cluster,
    scatter_gather,
    scatter_gather_tables,
)
from sibyl.reproduce.outcome import Item, Where

_SCATTER_GATHER = "Proficz 2020, scatter and gather"
_CLAIRVOYANT = "Proficz and Ocetkiewicz 2020"
_DELAYS = len(rack.DELAYS_MS)
_CELLS = _DELAYS * len(scatter_gather.KFLOATS)
_CLUSTER = "measured on a cluster"
_RACK = Where(48, "300mbit")
_REDUCERS = Where(16, "50mbit")  # all links are busy, which the machine has to play

# What repeats to the last digit takes one iteration, whatever is asked for.
ITEMS = (
    Item(
        "exscan-table-1", "Exclusive scan: table 1 and figure 1", "Traeff 2025", "simulated",
        exscan.table_1, 12, iterations=1,
    ),
    Item(
        "exscan-table-1-smpi", "Exclusive scan under SMPI: table 1", "Traeff 2025",
        "simulated by SMPI", exscan_measured.under_smpi, len(exscan_measured.COUNTS), iterations=1,
    ),
    Item(
        "exscan-table-1-cluster", "Exclusive scan on 36 hosts of a cluster: table 1",
        "Traeff 2025", _CLUSTER, exscan_measured.on_cluster, len(exscan_measured.COUNTS),
        Where(exscan_measured.HOSTS, "10mbit", "mpich"),
    ),
    Item(
        "scatter-figure-14", "Scatter over the largest delay, 48 nodes, 2 M floats: figure 14",
        _SCATTER_GATHER, "simulated", scatter_gather.figure_14, _DELAYS,
    ),
    Item(
        "gather-figure-15", "Gather over the largest delay, 48 nodes, 2 M floats: figure 15",
        _SCATTER_GATHER, "simulated", scatter_gather.figure_15, _DELAYS,
    ),
    Item(
        "scatter-figure-16", "Scatter over the size, 48 nodes, 50 ms: figure 16",
        _SCATTER_GATHER, "simulated", scatter_gather.figure_16, len(scatter_gather.KFLOATS),
    ),
    Item(
        "scatter-figure-17", "Scatter over the number of nodes, 2 M floats, 50 ms: figure 17",
        _SCATTER_GATHER, "simulated", scatter_gather.figure_17, len(scatter_gather.NODES),
    ),
    Item(
        "scatter-figure-18", "Elapsed times of scatter over the largest delay: figure 18",
        _SCATTER_GATHER, "simulated", elapsed.figure_18, _DELAYS,
    ),
    Item(
        "scatter-figure-19", "Elapsed times of scatter over the number of nodes: figure 19",
        _SCATTER_GATHER, "simulated", elapsed.figure_19, len(scatter_gather.NODES),
    ),
    Item(
        "gather-figure-20", "Elapsed times of gather over the largest delay: figure 20",
        _SCATTER_GATHER, "simulated", elapsed.figure_20, _DELAYS,
    ),
    Item(
        "gather-collisions",
        "Gather with a queue that loses data: figures 15 and 20, table 4", _SCATTER_GATHER,
        "simulated", collisions.gather_collisions, collisions.STEPS,
    ),
    Item(
        "knowing", "Where it pays to know who is late", "no paper", "simulated", knowing.regions,
        knowing.STEPS, iterations=knowing.ITERATIONS,
    ),
    Item(
        "knowing-cluster", "Where it pays to know who is late, on a cluster", "no paper", _CLUSTER,
        knowing_on_cluster.regions, 2 * len(knowing_on_cluster.CASES), Where(8, "100mbit"),
    ),
    Item(
        "scatter-table-3", "BSLIN against LIN: table 3", _SCATTER_GATHER, "simulated",
        scatter_gather_tables.table_3, _CELLS,
    ),
    Item(
        "gather-table-4", "BSLS against LS: table 4", _SCATTER_GATHER, "simulated",
        scatter_gather_tables.table_4, _CELLS,
    ),
    Item(
        "scatter-table-3-cluster", "BSLIN against LIN on a cluster of namespaces: table 3",
        _SCATTER_GATHER, _CLUSTER, on_cluster.table_3, _CELLS, _RACK,
    ),
    Item(
        "gather-table-4-cluster", "BSLS against LS on a cluster of namespaces: table 4",
        _SCATTER_GATHER, _CLUSTER, on_cluster.table_4, _CELLS, _RACK,
    ),
    Item(
        "scatter-figures-14-18-cluster",
        "Scatter over the largest delay on a cluster of namespaces: figures 14 and 18",
        _SCATTER_GATHER, _CLUSTER, figures_on_cluster.figures_14_and_18, _DELAYS, _RACK,
    ),
    Item(
        "gather-figures-15-20-cluster",
        "Gather over the largest delay on a cluster of namespaces: figures 15 and 20",
        _SCATTER_GATHER, _CLUSTER, figures_on_cluster.figures_15_and_20, _DELAYS, _RACK,
    ),
    Item(
        "gather-collisions-cluster",
        "Gather on a cluster whose switch loses data: figures 15 and 20",
        _SCATTER_GATHER, _CLUSTER, collisions_on_cluster.collisions, _DELAYS, _RACK,
    ),
    Item(
        "gather-table-4-collisions-cluster",
        "BSLS against LS on a cluster whose switch loses data: table 4",
        _SCATTER_GATHER, _CLUSTER, collisions_on_cluster.table_4, _CELLS, _RACK,
    ),
    Item(
        "scatter-figure-16-cluster",
        "Scatter over the size on a cluster of namespaces: figure 16",
        _SCATTER_GATHER, _CLUSTER, figures_on_cluster.figure_16, len(scatter_gather.KFLOATS),
        _RACK,
    ),
    Item(
        "scatter-figures-17-19-cluster",
        "Scatter over the number of nodes on a cluster of namespaces: figures 17 and 19",
        _SCATTER_GATHER, _CLUSTER, figures_on_cluster.figures_17_and_19,
        len(scatter_gather.NODES), _RACK,
    ),
    Item(
        "fft-table-5", "A parallel Fourier transform: table 5", _SCATTER_GATHER, "simulated",
        fft.table_5, iterations=1,
    ),
    Item(
        "fft-table-5-cluster", "A parallel Fourier transform on a cluster of namespaces: table 5",
        _SCATTER_GATHER, _CLUSTER, fft_on_cluster.table_5, fft_on_cluster.JOBS,
        Where(8, "100mbit"),
    ),
    Item(
        "gatherv-tables-1-to-3", "Irregular gather on 560 ranks: tables 1 to 3", "Traeff 2017",
        "simulated", gatherv.tables_1_to_3, len(gatherv_claims.PROBLEMS), iterations=1,
    ),
    Item(
        "gatherv-table-4", "Irregular gather on 6400 ranks, the library's defaults: table 4",
        "Traeff 2017", "simulated", gatherv.table_4, len(gatherv_claims.PROBLEMS), iterations=1,
    ),
    Item(
        "gatherv-table-5", "Irregular gather on 6400 ranks, the library's best: table 5",
        "Traeff 2017", "simulated", gatherv.table_5, len(gatherv_claims.PROBLEMS), iterations=1,
    ),
    Item(
        "reduce-figure-10", "Reduce over the largest delay, 48 nodes, 512 K floats: figure 10",
        _CLAIRVOYANT, "simulated", reduce.figure_10, _DELAYS,
    ),
    Item(
        "reduce-figure-11", "Reduce over the number of nodes, 128 K floats, 50 ms: figure 11",
        _CLAIRVOYANT, "simulated", reduce.figure_11, len(reduce.NODES),
    ),
    Item(
        "reduce-figure-10-cluster",
        "Reduce over the largest delay on a cluster of namespaces: figure 10",
        _CLAIRVOYANT, _CLUSTER, reduce_on_cluster.figure_10, 2 * _DELAYS, _REDUCERS,
    ),
    Item(
        "reduce-figure-11-cluster",
        "Reduce over the number of nodes on a cluster of namespaces: figure 11",
        _CLAIRVOYANT, _CLUSTER, reduce_on_cluster.figure_11, 2 * len(reduce_on_cluster.NODES),
        _REDUCERS,
    ),
    Item(
        "clairvoyant-table-1", "Generators of Clairvoyant: table 1, figures 7 and 8",
        _CLAIRVOYANT, "measured", clairvoyant.table_1, len(clairvoyant.PAPER),
    ),
    Item(
        "predictions", "Predicted arrivals of recorded programs", "no paper",
        "recorded and replayed", programs.prediction, len(programs.recordings()), iterations=1,
    ),
    Item(
        "cross-validation", "Simulator, SMPI and cluster on the same cases", "no paper",
        _CLUSTER, cross_validation.cross_validation, cross_validation.STEPS,
        Where(8, "20mbit", "mpich"), iterations=cross_validation.ITERATIONS,
    ),
)  # fmt: skip
