//! Columns that wrap into blocks when they are wider than the page.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// The widest line of a report.
pub const PAGE: usize = 120;

const GAP: usize = 2;

/// One column: its title and a cell for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    title: String,
    cells: Vec<String>,
    align: CellAlignment,
}

impl Column {
    /// A column of figures.
    pub fn right(title: impl Into<String>, cells: Vec<String>) -> Self {
        Self { title: title.into(), cells, align: CellAlignment::Right }
    }

    /// A column of words.
    pub fn left(title: impl Into<String>, cells: Vec<String>) -> Self {
        Self { title: title.into(), cells, align: CellAlignment::Left }
    }

    fn width(&self) -> usize {
        let longest = self.cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        longest.max(self.title.chars().count()) + GAP
    }
}

/// The columns as lines of at most `page` characters. The first column names the rows: when the others do not fit
/// beside each other, the rest goes into a further block, below, with the names again.
pub fn lines(columns: &[Column], page: usize) -> Vec<String> {
    let Some((names, figures)) = columns.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    let mut rest = figures;
    loop {
        let mut width = names.width();
        let fitting = rest
            .iter()
            .take_while(|column| {
                width += column.width();
                width <= page + GAP
            })
            .count();
        // A column that is too wide on its own is printed all the same.
        let (block, further) = rest.split_at(fitting.max(1).min(rest.len()));
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self::block(names, block));
        if further.is_empty() {
            return lines;
        }
        rest = further;
    }
}

fn block(names: &Column, figures: &[Column]) -> Vec<String> {
    let columns: Vec<&Column> = std::iter::once(names).chain(figures).collect();
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| column.title.as_str()));
    for row in 0..names.cells.len() {
        table.add_row(columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str)));
    }
    for (column, shape) in table.column_iter_mut().zip(&columns) {
        column.set_padding((0, 2)).set_cell_alignment(shape.align);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn columns() -> Vec<Column> {
        vec![
            Column::left("system", cells(&["thrift/mux", "tonic"])),
            Column::right("TPS", cells(&["201,345", "87,160"])),
            Column::right("AVG ms", cells(&["1.986", "4.588"])),
            Column::left("verdict", cells(&["win", "base"])),
        ]
    }

    #[test]
    fn one_block() {
        let expected = [
            "system          TPS  AVG ms  verdict",
            "thrift/mux  201,345   1.986  win",
            "tonic        87,160   4.588  base",
        ];
        assert_eq!(lines(&columns(), PAGE), expected);
        assert_eq!(lines(&columns(), 36), expected, "the gap after the last column does not count");
    }

    #[test]
    fn a_narrow_page_makes_blocks() {
        let expected = [
            "system          TPS",
            "thrift/mux  201,345",
            "tonic        87,160",
            "",
            "system      AVG ms",
            "thrift/mux   1.986",
            "tonic        4.588",
            "",
            "system      verdict",
            "thrift/mux  win",
            "tonic       base",
        ];
        assert_eq!(lines(&columns(), 20), expected);
        assert_eq!(lines(&columns(), 1), expected);
    }

    #[test]
    fn wide_letters_and_missing_cells() {
        let columns = [
            Column::left("system", cells(&["a", "b"])),
            Column::right("× tonic", cells(&["2.31 [2.27, 2.35]"])),
        ];
        assert_eq!(lines(&columns, PAGE), ["system            × tonic", "a       2.31 [2.27, 2.35]", "b"]);
        assert!(lines(&[], PAGE).is_empty());
    }
}
