//! Pages: one HTML file that needs nothing else.

mod agent;
mod cells;
mod render;

pub use agent::{AgentPage, DefenseRow, Share, ThresholdSweep};
pub use cells::{HtmlCell, HtmlTable};

use crate::Plot;

/// A self-contained HTML page. Every text is escaped; nothing is loaded from anywhere; it reads without its script, which only
/// sorts tables and highlights lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The title.
    pub title: String,
    /// One sentence below it.
    pub lead: String,
    /// The parts, in order.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
}

/// A part of a page, with an entry in the page's contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// What it holds.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section without blocks.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// A lower heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Things that the reader must not miss.
    Warnings(Vec<String>),
    /// A table.
    Table(HtmlTable),
    /// Plots beside each other; small ones three in a row on a wide screen.
    Plots {
        /// The plots.
        plots: Vec<Plot>,
        /// Whether they are small.
        small: bool,
    },
    /// Names and what they stand for.
    Facts(Vec<(String, String)>),
    /// Blocks that are folded away until the reader asks for them.
    Folded {
        /// What is inside.
        summary: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}
