/// How much work one message may cost. Over a bound the extraction sets `truncated` and keeps what it has.
///
/// ```
/// let mut limits = wardline_segments::Limits::default();
/// limits.max_parts = 10;
/// assert_eq!(limits.max_text, 1 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of extracted text, all segments together. Default 1 MiB.
    pub max_text: usize,
    /// MIME parts and archive members, all together. Default 200.
    pub max_parts: usize,
    /// Nesting of multiparts, messages and archives. Default 20.
    pub max_depth: usize,
    /// Bytes of one part after its transfer encoding. Default 16 MiB.
    pub max_decoded: usize,
    /// Bytes that all archives and compressed streams of the message may unpack to. Default 32 MiB.
    pub max_unpacked: usize,
    /// Unpacked bytes per packed byte, counted once an archive member has given 64 KiB. Default 200.
    pub max_ratio: usize,
    /// Bytes of one HTML part that are parsed. Default 4 MiB.
    pub max_html: usize,
    /// Nodes of one HTML tree. Default 200,000.
    pub max_html_nodes: usize,
    /// Steps of selector matching in one HTML part. Default 2,000,000.
    pub max_css_steps: usize,
    /// Bytes of a PDF file that are read at all. Default 8 MiB.
    pub max_pdf: usize,
    /// Pages of a PDF file. Default 200.
    pub max_pdf_pages: usize,
    /// Content-stream operators of a PDF file. Default 500,000.
    pub max_pdf_operators: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_text: 1 << 20,
            max_parts: 200,
            max_depth: 20,
            max_decoded: 16 << 20,
            max_unpacked: 32 << 20,
            max_ratio: 200,
            max_html: 4 << 20,
            max_html_nodes: 200_000,
            max_css_steps: 2_000_000,
            max_pdf: 8 << 20,
            max_pdf_pages: 200,
            max_pdf_operators: 500_000,
        }
    }
}
