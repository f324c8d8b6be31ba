//! Heat along a rod that ranks share, in Rust: neighbours by messages, all else by collectives.
//!
//! Rank 0 deals out unequal parts, each sweep ends with the sum of all changes, and the parts are gathered
//! in the end. Prints what depends on every one of them.
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::traits::*;
use mpi::Count;

const CELLS: usize = 4000;
const SWEEPS: usize = 80;

/// The cells of each rank: in proportion to its number, so that ranks come at different times.
fn parts(ranks: usize) -> (Vec<Count>, Vec<Count>) {
    let shares = ranks * (ranks + 1) / 2;
    let mut counts: Vec<Count> = (0..ranks).map(|r| (CELLS * (r + 1) / shares) as Count).collect();
    let given: Count = counts.iter().sum();
    counts[ranks - 1] += CELLS as Count - given;
    let starts = counts
        .iter()
        .scan(0, |next, &count| {
            let start = *next;
            *next += count;
            Some(start)
        })
        .collect();
    (counts, starts)
}

fn main() {
    let universe = mpi::initialize().expect("MPI is initialised once");
    let world = universe.world();
    let (rank, ranks) = (world.rank(), world.size());
    let root = world.process_at_rank(0);
    let (counts, starts) = parts(ranks as usize);
    let own = counts[rank as usize] as usize;

    let mut cells = vec![0.0f64; own];
    if rank == 0 {
        let rod: Vec<f64> = (0..CELLS).map(|i| ((i * i) % 97) as f64).collect();
        let partition = Partition::new(&rod[..], &counts[..], &starts[..]);
        root.scatter_varcount_into_root(&partition, &mut cells[..]);
    } else {
        root.scatter_varcount_into(&mut cells[..]);
    }
    let mut rate = if rank == 0 { 0.4f64 } else { 0.0 };
    root.broadcast_into(&mut rate);
    // Where this rank's cells begin, as a check of what was dealt out.
    let mut before: Count = 0;
    world.exclusive_scan_into(&(own as Count), &mut before, SystemOperation::sum());
    let begins = if rank == 0 { 0 } else { before };
    assert_eq!(begins, starts[rank as usize]);

    let mut change = 0.0f64;
    for sweep in 0..SWEEPS {
        let (mut left, mut right) = (cells[0], cells[own - 1]);
        let last = ranks - 1;
        mpi::request::scope(|scope| {
            let mut open = Vec::new();
            if rank > 0 {
                open.push(world.process_at_rank(rank - 1).immediate_send(scope, &cells[0]));
            }
            if rank < last {
                open.push(world.process_at_rank(rank + 1).immediate_send(scope, &cells[own - 1]));
            }
            if rank > 0 {
                world.process_at_rank(rank - 1).receive_into(&mut left);
            }
            if rank < last {
                world.process_at_rank(rank + 1).receive_into(&mut right);
            }
            for request in open {
                request.wait();
            }
        });
        let old = cells.clone();
        for i in 0..own {
            let below = if i == 0 { left } else { old[i - 1] };
            let above = if i == own - 1 { right } else { old[i + 1] };
            cells[i] += rate * (below - 2.0 * old[i] + above);
        }
        let mine: f64 = cells.iter().zip(&old).map(|(new, old)| (new - old).abs()).sum();
        world.all_reduce_into(&mine, &mut change, SystemOperation::sum());
        if rank == 0 && sweep % 20 == 0 {
            println!("sweep {sweep} change {change:.10e}");
        }
        if sweep % 10 == 0 {
            let mut hottest = vec![0.0f64; ranks as usize];
            let own_hottest = cells.iter().cloned().fold(f64::MIN, f64::max);
            world.all_gather_into(&own_hottest, &mut hottest[..]);
            let mut turned = vec![0.0f64; ranks as usize];
            world.all_to_all_into(&hottest[..], &mut turned[..]);
            assert!(turned.iter().all(|&value| value == hottest[rank as usize]));
        }
    }
    world.barrier();
    if rank == 0 {
        let mut rod = vec![0.0f64; CELLS];
        let mut partition = PartitionMut::new(&mut rod[..], &counts[..], &starts[..]);
        root.gather_varcount_into_root(&cells[..], &mut partition);
        let sum: f64 = rod.iter().sum();
        let weighted: f64 = rod.iter().enumerate().map(|(i, value)| i as f64 * value).sum();
        println!("sum {sum:.10e} weighted {weighted:.10e} change {change:.10e}");
    } else {
        root.gather_varcount_into(&cells[..]);
    }
    let mut largest = 0.0f64;
    let mine = cells.iter().cloned().fold(f64::MIN, f64::max);
    if rank == 0 {
        root.reduce_into_root(&mine, &mut largest, SystemOperation::max());
        println!("largest {largest:.10e}");
    } else {
        root.reduce_into(&mine, SystemOperation::max());
    }
}
