//! Which CPUs the server gets, which the load generator, and keeping them there.

use std::fmt;
use std::fs;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// The CPUs of the two sides. Equal sets mean that they share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Of the server.
    pub server: Vec<usize>,
    /// Of the load generator.
    pub client: Vec<usize>,
    /// Whether threads are held on them.
    pub pinned: bool,
}

impl Split {
    /// Whether a CPU is left for the driver.
    pub fn leaves_one_free(&self, usable: &[usize]) -> bool {
        usable.iter().any(|cpu| !self.server.contains(cpu) && !self.client.contains(cpu))
    }

    /// Whether both sides run on the same CPUs.
    pub fn shared(&self) -> bool {
        self.server == self.client
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pinned {
            return write!(f, "not pinned");
        }
        write!(f, "cpu {} server, cpu {} client", list(&self.server), list(&self.client))
    }
}

/// CPUs this process may use, in order. One, if the system does not tell.
pub fn usable() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return vec![0] };
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
}

/// The split that `--pin auto` makes of these cores, each given as its sibling threads: the server gets a quarter
/// (four CPUs above sixteen, at least one), the client all others, and no core is on both sides. A single core is
/// shared by both.
pub fn split(cores: &[Vec<usize>]) -> Split {
    let cpus: usize = cores.iter().map(Vec::len).sum();
    let wanted = if cpus > 16 { 4 } else { (cpus / 4).max(1) };
    let mut server = Vec::new();
    let mut client = Vec::new();
    for (place, core) in cores.iter().enumerate() {
        let last = place + 1 == cores.len();
        let side =
            if server.len() < wanted && !(last && client.is_empty()) { &mut server } else { &mut client };
        side.extend_from_slice(core);
    }
    if server.is_empty() {
        server.clone_from(&client);
    }
    server.sort_unstable();
    client.sort_unstable();
    Split { server, client, pinned: true }
}

/// The cores behind these CPUs, in order of their first CPU.
pub fn cores(cpus: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    for &cpu in cpus {
        if cores.iter().flatten().any(|&known| known == cpu) {
            continue;
        }
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(path).ok().and_then(|text| parse(text.trim()).ok());
        let mut core = siblings.unwrap_or_else(|| vec![cpu]);
        core.retain(|sibling| cpus.contains(sibling));
        if core.is_empty() {
            core.push(cpu);
        }
        cores.push(core);
    }
    cores
}

/// Holds the calling thread on these CPUs. An empty list leaves it where it is.
///
/// # Errors
///
/// As the system says, in words.
pub fn pin(cpus: &[usize]) -> Result<(), String> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu).map_err(|_| format!("CPU {cpu} does not exist"))?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
        .map_err(|error| format!("pinning to CPU {}: {error}", list(cpus)))
}

/// Reads `0-3,8`.
///
/// # Errors
///
/// The element that is not a CPU number or a range.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for element in text.split(',') {
        let bad = || element.to_owned();
        let (first, last) = element.split_once('-').unwrap_or((element, element));
        let (first, last): (usize, usize) =
            (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
        if first > last || last >= CpuSet::count() {
            return Err(bad());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Writes `0-3,8`.
pub fn list(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let ranges: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(cpus: usize) -> Vec<Vec<usize>> {
        (0..cpus).map(|cpu| vec![cpu]).collect()
    }

    #[test]
    fn the_automatic_split() {
        for (cpus, server, client) in [
            (1, "0", "0"),
            (2, "0", "1"),
            (4, "0", "1-3"),
            (8, "0-1", "2-7"),
            (16, "0-3", "4-15"),
            (20, "0-3", "4-19"),
        ] {
            let split = split(&single(cpus));
            assert_eq!(
                (list(&split.server), list(&split.client)),
                (server.to_owned(), client.to_owned()),
                "{cpus}"
            );
        }
        assert!(split(&single(1)).shared());
    }

    #[test]
    fn sibling_threads_stay_together() {
        let cores: Vec<Vec<usize>> = (0..4).map(|core| vec![core, core + 4]).collect();
        let split = split(&cores);
        assert_eq!((list(&split.server), list(&split.client)), ("0,4".to_owned(), "1-3,5-7".to_owned()));
        let one_core = super::split(&[vec![0, 1]]);
        assert!(one_core.shared());
    }

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(list(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(parse("3-1"), Err("3-1".to_owned()));
        assert_eq!(parse("0,x"), Err("x".to_owned()));
        assert_eq!(parse(""), Err(String::new()));
    }

    #[test]
    fn this_machine() {
        let usable = usable();
        assert!(!usable.is_empty());
        let all: usize = cores(&usable).iter().map(Vec::len).sum();
        assert_eq!(all, usable.len());
    }
}
