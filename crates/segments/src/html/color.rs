//! Colours and their contrast.

use cssparser::{Parser, Token, color};

/// sRGB, with alpha from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rgba {
    pub(super) r: f32,
    pub(super) g: f32,
    pub(super) b: f32,
    pub(super) a: f32,
}

impl Rgba {
    pub(super) const WHITE: Self = Self { r: 255.0, g: 255.0, b: 255.0, a: 1.0 };
    pub(super) const BLACK: Self = Self { r: 0.0, g: 0.0, b: 0.0, a: 1.0 };
    pub(super) const LINK: Self = Self { r: 0.0, g: 0.0, b: 238.0, a: 1.0 };
    pub(super) const TRANSPARENT: Self = Self { r: 0.0, g: 0.0, b: 0.0, a: 0.0 };

    fn opaque(rgb: (u8, u8, u8)) -> Self {
        Self { r: rgb.0.into(), g: rgb.1.into(), b: rgb.2.into(), a: 1.0 }
    }

    /// This colour painted over another.
    pub(super) fn over(self, under: Self) -> Self {
        let mix = |top: f32, bottom: f32| top * self.a + bottom * (1.0 - self.a);
        Self { r: mix(self.r, under.r), g: mix(self.g, under.g), b: mix(self.b, under.b), a: 1.0 }
    }

    /// WCAG 2 relative luminance.
    fn luminance(self) -> f32 {
        let linear = |c: f32| {
            let c = (c / 255.0).clamp(0.0, 1.0);
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
    }
}

/// WCAG 2 contrast ratio of two opaque colours: 1 (the same) to 21.
pub(super) fn contrast(a: Rgba, b: Rgba) -> f32 {
    let (a, b) = (a.luminance(), b.luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Reads a CSS colour. `None` for what is no colour that can be told here (`currentcolor`, system colours, newer notations).
pub(super) fn css(input: &mut Parser<'_>) -> Option<Rgba> {
    match input.next().ok()?.clone() {
        Token::Hash(value) | Token::IDHash(value) => {
            let (r, g, b, a) = color::parse_hash_color(value.as_bytes()).ok()?;
            Some(Rgba { a, ..Rgba::opaque((r, g, b)) })
        }
        Token::Ident(name) if name.eq_ignore_ascii_case("transparent") => Some(Rgba::TRANSPARENT),
        Token::Ident(name) => color::parse_named_color(&name).ok().map(Rgba::opaque),
        Token::Function(name) => {
            let hsl = name.to_ascii_lowercase().starts_with("hsl");
            if !hsl && !name.to_ascii_lowercase().starts_with("rgb") {
                return None;
            }
            let mut parts: Vec<(f32, bool)> = Vec::new();
            input
                .parse_nested_block(|input| -> Result<(), cssparser::ParseError<()>> {
                    while let Ok(token) = input.next() {
                        match token {
                            Token::Number { value, .. } | Token::Dimension { value, .. } => parts.push((*value, false)),
                            Token::Percentage { unit_value, .. } => parts.push((*unit_value, true)),
                            _ => {}
                        }
                    }
                    Ok(())
                })
                .ok()?;
            let [x, y, z, ..] = parts.as_slice() else { return None };
            let a = parts.get(3).map_or(1.0, |(value, _)| value.clamp(0.0, 1.0));
            if hsl {
                return Some(Rgba { a, ..from_hsl(x.0, y.0, z.0) });
            }
            let channel =
                |(value, percent): &(f32, bool)| if *percent { value * 255.0 } else { *value }.clamp(0.0, 255.0);
            Some(Rgba { r: channel(x), g: channel(y), b: channel(z), a })
        }
        _ => None,
    }
}

fn from_hsl(hue: f32, saturation: f32, lightness: f32) -> Rgba {
    let (s, l) = (saturation.clamp(0.0, 1.0), lightness.clamp(0.0, 1.0));
    let channel = |n: f32| {
        let k = (n + hue / 30.0).rem_euclid(12.0);
        255.0 * (l - s * l.min(1.0 - l) * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))
    };
    Rgba { r: channel(0.0), g: channel(8.0), b: channel(4.0), a: 1.0 }
}

/// Reads the colour of an HTML attribute, by the rules for legacy colour values of the HTML standard.
pub(super) fn legacy(value: &str) -> Option<Rgba> {
    let value = value.trim();
    if value.is_empty() || value.eq_ignore_ascii_case("transparent") {
        return None;
    }
    if let Ok(rgb) = color::parse_named_color(value) {
        return Some(Rgba::opaque(rgb));
    }
    let digits = value.strip_prefix('#').unwrap_or(value);
    let mut hex: Vec<u8> = digits.chars().take(128).map(|c| c.to_digit(16).map_or(0, |d| d as u8)).collect();
    if value.starts_with('#') && hex.len() == 3 {
        return Some(Rgba::opaque((hex[0] * 17, hex[1] * 17, hex[2] * 17)));
    }
    while hex.is_empty() || !hex.len().is_multiple_of(3) {
        hex.push(0);
    }
    let third = hex.len() / 3;
    let mut parts: Vec<&[u8]> = hex.chunks(third).collect();
    for part in &mut parts {
        if part.len() > 8 {
            *part = &part[part.len() - 8..];
        }
    }
    while parts[0].len() > 2 && parts.iter().all(|p| p[0] == 0) {
        for part in &mut parts {
            *part = &part[1..];
        }
    }
    let two = |p: &[u8]| if p.len() == 1 { p[0] } else { p[0] * 16 + p[1] };
    Some(Rgba::opaque((two(parts[0]), two(parts[1]), two(parts[2]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Rgba> {
        css(&mut Parser::new(text))
    }

    #[test]
    fn notations() {
        let white = Some(Rgba::WHITE);
        for text in [
            "#fff",
            "#FFFFFF",
            "white",
            "rgb(255,255,255)",
            "rgb(100% 100% 100%)",
            "hsl(0, 0%, 100%)",
            "rgba(255,255,255,1)",
        ] {
            assert_eq!(parse(text), white, "{text}");
        }
        assert_eq!(parse("transparent"), Some(Rgba::TRANSPARENT));
        assert_eq!(parse("inherit"), None);
        assert_eq!(legacy("FFFFFF"), white);
        assert_eq!(legacy("#fff"), white);
        assert_eq!(legacy("White"), white);
    }

    #[test]
    fn contrasts() {
        assert!((contrast(Rgba::WHITE, Rgba::BLACK) - 21.0).abs() < 0.01);
        assert!((contrast(Rgba::WHITE, Rgba::WHITE) - 1.0).abs() < 0.01);
    }
}
