//! Cycles in directed graphs, without recursion: schemas are as deep as their author likes.

use std::collections::{HashMap, VecDeque};

/// The strongly connected component of every node, by Tarjan's algorithm. A component has a higher number than all
/// components that it points to.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low, mut component) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
    let (mut stack, mut path) = (Vec::new(), Vec::new());
    let (mut next_index, mut next_component) = (0, 0);
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((node, edge)) = path.pop() {
            if edge == 0 {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                stack.push(node);
            }
            if let Some(&target) = edges[node].get(edge) {
                path.push((node, edge + 1));
                if index[target] == UNSEEN {
                    path.push((target, 0));
                } else if component[target] == UNSEEN {
                    low[node] = low[node].min(index[target]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    component
}

/// One shortest cycle for every component that has one: its nodes in order, the lowest first and not repeated.
pub(super) fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let component = components(edges);
    let mut done = vec![false; edges.len()];
    let mut found = Vec::new();
    for start in 0..edges.len() {
        if !std::mem::replace(&mut done[component[start]], true) {
            found.extend(cycle_through(start, edges, &component));
        }
    }
    found
}

fn cycle_through(start: usize, edges: &[Vec<usize>], component: &[usize]) -> Option<Vec<usize>> {
    let mut from = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &target in &edges[node] {
            if target == start {
                let mut chain = vec![node];
                while let Some(&before) = chain.last().and_then(|last| from.get(last)) {
                    chain.push(before);
                }
                chain.reverse();
                return Some(chain);
            }
            if component[target] == component[start] && !from.contains_key(&target) {
                from.insert(target, node);
                queue.push_back(target);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_point_to() {
        let edges = vec![vec![1], vec![2], vec![1, 3], vec![], vec![0]];
        let found = components(&edges);
        assert_eq!(found[1], found[2]);
        assert!(found[3] < found[1] && found[1] < found[0] && found[0] < found[4], "{found:?}");
    }

    #[test]
    fn a_cycle_is_reported_once_and_in_order() {
        let edges = vec![vec![1], vec![2], vec![0, 2], vec![0], vec![4], vec![]];
        assert_eq!(cycles(&edges), [vec![0, 1, 2], vec![4]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let count = 200_000;
        let mut edges: Vec<Vec<usize>> = (1..=count).map(|next| vec![next]).collect();
        edges.push(vec![]);
        assert!(cycles(&edges).is_empty());
        edges[count].push(0);
        assert_eq!(cycles(&edges)[0].len(), count + 1);
    }
}
