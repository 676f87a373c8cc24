use plotters::style::RGBColor;

/// The colours of Okabe and Ito, which people with any common colour vision tell apart, darkened where white paper asks for it.
const HUES: [(u8, u8, u8); 8] = [
    (0x00, 0x5f, 0x9e),
    (0xb8, 0x4d, 0x00),
    (0x00, 0x7a, 0x5a),
    (0x9c, 0x44, 0x78),
    (0x6b, 0x5b, 0x00),
    (0x2b, 0x7f, 0xb0),
    (0x30, 0x30, 0x30),
    (0x8a, 0x2c, 0x2c),
];

/// The same on a dark ground.
pub(crate) const DARK: [&str; 8] =
    ["#56b4e9", "#f0a24a", "#3dd6a8", "#e39ac6", "#f0e442", "#8cc8f0", "#d8d8d8", "#ff9d9d"];

/// Dash patterns, so that a line is not told by its colour alone. The last bits of a colour's blue say which is meant.
pub(crate) const DASHES: [&str; 3] = ["none", "7 3", "2 3"];

/// How many lines can be told apart; further ones repeat.
pub(crate) const STYLES: usize = HUES.len() * DASHES.len();

/// What is no data: text, axes and grid.
pub(super) const INK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
pub(super) const GRID: RGBColor = RGBColor(0xd9, 0xdd, 0xe2);
pub(super) const GUIDE: RGBColor = RGBColor(0x8a, 0x90, 0x98);

/// The colour of the n-th series. Series with the same hue differ in the lowest bits, by which the page's style sheet gives them their dashes.
pub(crate) fn series(n: usize) -> RGBColor {
    let (r, g, b) = HUES[n % HUES.len()];
    let dash = (n / HUES.len() % DASHES.len()) as u8;
    RGBColor(r, g, b + dash)
}

/// The colour as plotters writes it.
pub(crate) fn hex(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}
