//! Times the extractor; `cargo xtask bench segments` runs it and judges the figures.
//!
//! `extraction_speed corpus THREADS REPEATS FOLDER…` prints messages, bytes, the seconds of each repeat by the clock and by the
//! busiest thread's processor time, and the median and longest time of one message in milliseconds; `extraction_speed bomb NAME`
//! prints milliseconds and whether `truncated` is set; `extraction_speed bombs` lists the names.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures and prints")]

mod bomb;
#[path = "../common/files.rs"]
mod files;

use std::path::{Path, PathBuf};
use std::time::Instant;

use wardline_segments::{Limits, extract};

use crate::files::files;

/// As in `mailbench`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["corpus", threads, repeats, folders @ ..] => {
            corpus(threads.parse().expect("a number"), repeats.parse().expect("a number"), folders);
        }
        ["bomb", name] => {
            let raw = bomb::build(name).expect("a bomb of that name");
            let started = Instant::now();
            let found = extract(&raw, &Limits::default());
            println!("milliseconds {:.0}", started.elapsed().as_secs_f64() * 1000.0);
            println!("truncated {}", u8::from(found.signals.truncated));
            println!("input {}", raw.len());
        }
        ["bombs"] => bomb::NAMES.iter().for_each(|name| println!("{name}")),
        _ => panic!("usage: extraction_speed corpus THREADS REPEATS FOLDER… | bomb NAME | bombs"),
    }
}

fn corpus(threads: usize, repeats: usize, folders: &[&str]) {
    let paths: Vec<PathBuf> = folders.iter().flat_map(|f| files(Path::new(f))).collect();
    let messages: Vec<Vec<u8>> = paths.iter().map(|p| std::fs::read(p).expect("a file")).collect();
    let bytes: usize = messages.iter().map(Vec::len).sum();
    let limits = Limits::default();
    let (mut seconds, mut processor) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let started = Instant::now();
        let busy = std::thread::scope(|scope| {
            let spawn = |thread: usize| {
                let (messages, limits) = (&messages, &limits);
                scope.spawn(move || {
                    for raw in messages.iter().skip(thread).step_by(threads) {
                        std::hint::black_box(extract(raw, limits));
                    }
                    busy_seconds()
                })
            };
            let running: Vec<_> = (0..threads).map(spawn).collect();
            running.into_iter().map(|t| t.join().expect("a thread")).collect::<Vec<Option<f64>>>()
        });
        let busiest = busy.into_iter().collect::<Option<Vec<f64>>>().map(|b| b.into_iter().fold(0.0, f64::max));
        processor.push(busiest.unwrap_or_else(|| started.elapsed().as_secs_f64()).to_string());
        seconds.push(started.elapsed().as_secs_f64().to_string());
    }
    let mut each: Vec<f64> = messages
        .iter()
        .map(|raw| {
            let started = Instant::now();
            std::hint::black_box(extract(raw, &limits));
            started.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    each.sort_by(f64::total_cmp);
    println!("messages {}", messages.len());
    println!("bytes {bytes}");
    println!("seconds {}", seconds.join(" "));
    println!("processor {}", processor.join(" "));
    println!("each {} {}", each[each.len() / 2], each[each.len() - 1]);
}

/// Processor time of this thread, where the system tells (Linux): other programs on the machine do not count.
fn busy_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
