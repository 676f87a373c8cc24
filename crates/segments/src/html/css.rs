//! Declarations and style sheets: only what can hide text, or undo the hiding.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token, parse_important,
};
use selectors::parser::{ParseRelative, Selector, SelectorList};

use super::color::{self, Rgba};
use super::matching::{SelectorReader, Selectors};

/// A length as far as hiding goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Px(f32),
    Em(f32),
    Rem(f32),
    Percent(f32),
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Display {
    None,
    Block,
    Inline,
    Other,
}

/// Properties that can take an element out of sight. Each is undone by a later value of its own, and by no other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vanishing {
    Clip,
    ClipPath,
    ContentVisibility,
    Filter,
    Scale,
    Transform,
    Translate,
    Zoom,
}

/// One declaration that matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Declaration {
    Display(Display),
    Hidden(bool),
    Opacity(f32),
    FontSize(Length),
    Color(Option<Rgba>),
    /// `None`: a colour or image that can't be told.
    Background(Option<Rgba>),
    Width(Length),
    MaxWidth(Length),
    Height(Length),
    MaxHeight(Length),
    ClipsOverflow(bool),
    Absolute(bool),
    Left(Length),
    Top(Length),
    Right(Length),
    Bottom(Length),
    Indent(Length),
    MarginLeft(Length),
    MarginTop(Length),
    /// `Auto`: normal; `None`: as the parent has it.
    LetterSpacing(Option<Length>),
    /// Whether the property takes the element out of sight: clipped or scaled to nothing, or moved away.
    Vanishes(Vanishing, bool),
    Preserves(bool),
    MsoHide(bool),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) selector: Selector<Selectors>,
    pub(super) declarations: std::rc::Rc<Vec<(Declaration, bool)>>,
}

/// Reads a `style` attribute: declarations and whether each is important.
pub(super) fn inline(style: &str) -> Vec<(Declaration, bool)> {
    let mut input = Parser::new(style);
    declarations(&mut input)
}

fn declarations(input: &mut Parser<'_>) -> Vec<(Declaration, bool)> {
    let mut reader = Body;
    let mut found = Vec::new();
    for item in RuleBodyParser::new(input, &mut reader) {
        if let Ok((list, important)) = item {
            found.extend(list.into_iter().map(|d| (d, important)));
        }
        if found.len() > 4096 {
            break;
        }
    }
    found
}

/// Reads a style sheet, at most `max` rules.
pub(super) fn sheet(text: &str, max: usize, rules: &mut Vec<Rule>) {
    let mut input = Parser::new(text);
    let mut reader = Sheet;
    for item in StyleSheetParser::new(&mut input, &mut reader) {
        if let Ok(found) = item {
            rules.extend(found);
        }
        if rules.len() > max {
            rules.truncate(max);
            return;
        }
    }
}

type Error<'i> = ParseError<()>;

struct Body;

impl<'i> DeclarationParser<'i> for Body {
    type Declaration = (Vec<Declaration>, bool);
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _: &ParserState,
    ) -> Result<Self::Declaration, Error<'i>> {
        let mut found = Vec::new();
        value(&name.to_ascii_lowercase(), input, &mut found);
        let mut important = false;
        while !input.is_exhausted() {
            if input.try_parse(parse_important).is_ok() {
                important = true;
            } else if input.next().is_err() {
                break;
            }
        }
        Ok((found, important))
    }
}

impl<'i> AtRuleParser<'i> for Body {
    type Prelude = ();
    type AtRule = (Vec<Declaration>, bool);
    type Error = ();
}

impl<'i> QualifiedRuleParser<'i> for Body {
    type Prelude = ();
    type QualifiedRule = (Vec<Declaration>, bool);
    type Error = ();
}

impl<'i> RuleBodyItemParser<'i, (Vec<Declaration>, bool), ()> for Body {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        false
    }
}

struct Sheet;

impl<'i> QualifiedRuleParser<'i> for Sheet {
    type Prelude = SelectorList<Selectors>;
    type QualifiedRule = Vec<Rule>;
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Self::Prelude, Error<'i>> {
        SelectorList::parse(&SelectorReader, input, ParseRelative::No).map_err(|_| ParseError::custom(()))
    }

    fn parse_block(
        &mut self,
        prelude: Self::Prelude,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<Vec<Rule>, Error<'i>> {
        let declarations = std::rc::Rc::new(declarations(input));
        if declarations.is_empty() {
            return Ok(Vec::new());
        }
        let rule =
            |selector: &Selector<Selectors>| Rule { selector: selector.clone(), declarations: declarations.clone() };
        Ok(prelude.slice().iter().map(rule).collect())
    }
}

impl<'i> AtRuleParser<'i> for Sheet {
    /// Whether the block applies on a desktop screen.
    type Prelude = bool;
    type AtRule = Vec<Rule>;
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Result<bool, Error<'i>> {
        let start = input.position();
        while input.next().is_ok() {}
        let condition = input.slice_from(start);
        match &*name.to_ascii_lowercase() {
            "media" => Ok(applies(condition)),
            "supports" | "layer" | "container" => Ok(true),
            _ => Err(ParseError::custom(())),
        }
    }

    fn parse_block(&mut self, applies: bool, _: &ParserState, input: &mut Parser<'i>) -> Result<Vec<Rule>, Error<'i>> {
        let mut rules = Vec::new();
        if applies {
            let mut reader = Sheet;
            for found in StyleSheetParser::new(input, &mut reader).flatten() {
                rules.extend(found);
            }
        }
        Ok(rules)
    }
}

/// Whether a media query holds for a reader at a desktop screen, in a light scheme.
fn applies(query: &str) -> bool {
    let query = query.to_ascii_lowercase();
    query.split(',').any(|one| {
        let narrow =
            ["max-width", "max-device-width", "max-height", "prefers-color-scheme: dark", "prefers-color-scheme:dark"];
        let other = ["print", "speech", "tty", "projection", "handheld", "not all", "not screen", "amzn"];
        !narrow.iter().chain(&other).any(|w| one.contains(w))
    })
}

/// Reads one declaration's value.
fn value(name: &str, input: &mut Parser<'_>, out: &mut Vec<Declaration>) {
    use Declaration as D;
    match name {
        "display" => {
            let Some(word) = ident(input) else { return };
            out.push(D::Display(match word.as_str() {
                "none" => Display::None,
                "inline" | "inline-block" | "inline-flex" | "contents" => Display::Inline,
                "block" | "flex" | "grid" | "table" | "list-item" | "table-row" | "flow-root" => Display::Block,
                _ => Display::Other,
            }));
        }
        "visibility" => match ident(input).as_deref() {
            Some("hidden" | "collapse") => out.push(D::Hidden(true)),
            Some("visible" | "initial") => out.push(D::Hidden(false)),
            _ => {}
        },
        "content-visibility" => {
            if let Some(word) = ident(input) {
                out.push(D::Vanishes(Vanishing::ContentVisibility, word == "hidden"));
            }
        }
        "opacity" => {
            if let Some(Length::Px(v) | Length::Percent(v)) = length(input) {
                out.push(D::Opacity(v));
            }
        }
        "font-size" => {
            // Browsers drop a size below zero.
            let size = length(input).or_else(|| ident(input).and_then(|w| named_size(&w)));
            out.extend(size.filter(|s| amount(s) >= 0.0).map(D::FontSize));
        }
        "font" => {
            // The size is the first length; a bare number before it is a weight.
            while let Ok(token) = input.next() {
                let size = match token {
                    Token::Number { value, .. } if *value == 0.0 => Some(Length::Px(0.0)),
                    Token::Number { .. } => None,
                    Token::Ident(word) => named_size(&word.to_ascii_lowercase()),
                    token => token_length(token),
                };
                if let Some(size) = size {
                    out.push(D::FontSize(size));
                    return;
                }
            }
        }
        "color" | "-webkit-text-fill-color" => {
            let mut probe = input.state();
            match color::css(input) {
                Some(color) => out.push(D::Color(Some(color))),
                None => {
                    input.reset(&probe);
                    probe = input.state();
                    if ident(input).as_deref() != Some("inherit") {
                        input.reset(&probe);
                        out.push(D::Color(None));
                    }
                }
            }
        }
        "background" | "background-color" | "background-image" => background(name, input, out),
        "width" => out.extend(length(input).map(D::Width)),
        "max-width" => out.extend(length(input).map(D::MaxWidth)),
        "height" => out.extend(length(input).map(D::Height)),
        "max-height" => out.extend(length(input).map(D::MaxHeight)),
        "overflow" | "overflow-x" | "overflow-y" => {
            if let Some(word) = ident(input) {
                out.push(D::ClipsOverflow(matches!(word.as_str(), "hidden" | "clip" | "scroll" | "auto")));
            }
        }
        "position" => {
            if let Some(word) = ident(input) {
                out.push(D::Absolute(matches!(word.as_str(), "absolute" | "fixed" | "relative")));
            }
        }
        "left" => out.extend(length(input).map(D::Left)),
        "top" => out.extend(length(input).map(D::Top)),
        "right" => out.extend(length(input).map(D::Right)),
        "bottom" => out.extend(length(input).map(D::Bottom)),
        "inset" => {
            if let Some(side) = length(input) {
                out.extend([D::Left(side), D::Top(side), D::Right(side), D::Bottom(side)]);
            }
        }
        "text-indent" => out.extend(length(input).map(D::Indent)),
        "margin-left" => out.extend(length(input).map(D::MarginLeft)),
        "margin-top" => out.extend(length(input).map(D::MarginTop)),
        "margin" => {
            let sides: Vec<Length> = std::iter::from_fn(|| length(input)).take(4).collect();
            if let Some(top) = sides.first() {
                out.push(D::MarginTop(*top));
                out.push(D::MarginLeft(*sides.get(3).or(sides.get(1)).unwrap_or(top)));
            }
        }
        "letter-spacing" => {
            let spacing = length(input).filter(|l| *l != Length::Auto).map(Some);
            let spacing = spacing.or_else(|| match ident(input)?.as_str() {
                "normal" | "initial" => Some(Some(Length::Auto)),
                "inherit" | "unset" | "revert" | "revert-layer" => Some(None),
                _ => None,
            });
            out.extend(spacing.map(D::LetterSpacing));
        }
        "zoom" | "scale" | "translate" => {
            let (property, vanishes): (Vanishing, fn(&Length) -> bool) = match name {
                "zoom" => (Vanishing::Zoom, zooms_away),
                "scale" => (Vanishing::Scale, scales_away),
                _ => (Vanishing::Translate, moves_away),
            };
            if let Some(word) = ident(input) {
                let normal = if name == "zoom" { "normal" } else { "none" };
                if word == normal || (resets(&word) && !matches!(word.as_str(), "none" | "auto")) {
                    out.push(D::Vanishes(property, false));
                }
                return;
            }
            let values: Vec<Length> = std::iter::from_fn(|| length(input)).take(3).collect();
            if !values.is_empty() {
                out.push(D::Vanishes(property, values.iter().any(vanishes)));
            }
        }
        "clip" => out.extend(clip_rect(input).map(|v| D::Vanishes(Vanishing::Clip, v))),
        "clip-path" | "-webkit-clip-path" | "transform" | "-webkit-transform" | "filter" | "-webkit-filter" => {
            let property = match name.trim_start_matches("-webkit-") {
                "clip-path" => Vanishing::ClipPath,
                "transform" => Vanishing::Transform,
                _ => Vanishing::Filter,
            };
            out.extend(vanishing_function(input).map(|v| D::Vanishes(property, v)));
        }
        "white-space" => {
            if let Some(word) = ident(input) {
                out.push(D::Preserves(word.starts_with("pre") || word == "break-spaces"));
            }
        }
        "mso-hide" => out.push(D::MsoHide(ident(input).as_deref() == Some("all"))),
        _ => {}
    }
}

fn background(name: &str, input: &mut Parser<'_>, out: &mut Vec<Declaration>) {
    let mut found: Option<Rgba> = None;
    let mut image = false;
    loop {
        let state = input.state();
        if let Some(color) = color::css(input) {
            found = Some(color);
            continue;
        }
        input.reset(&state);
        match input.next().cloned() {
            Ok(Token::Function(name)) => {
                image |= !name.eq_ignore_ascii_case("var");
                let _ = input.parse_nested_block(|input| -> Result<(), Error<'_>> {
                    while input.next().is_ok() {}
                    Ok(())
                });
            }
            Ok(Token::UnquotedUrl(_)) => image = true,
            Ok(Token::Delim('!')) => {
                input.reset(&state);
                break;
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    if image {
        out.push(Declaration::Background(None));
    } else if let Some(color) = found {
        out.push(Declaration::Background(Some(color)));
    } else if name == "background" {
        out.push(Declaration::Background(Some(Rgba::TRANSPARENT)));
    }
}

fn ident(input: &mut Parser<'_>) -> Option<String> {
    let state = input.state();
    match input.next() {
        Ok(Token::Ident(word)) => Some(word.to_ascii_lowercase()),
        _ => {
            input.reset(&state);
            None
        }
    }
}

fn length(input: &mut Parser<'_>) -> Option<Length> {
    let state = input.state();
    let found = match input.next() {
        Ok(Token::Ident(word)) if word.eq_ignore_ascii_case("auto") || word.eq_ignore_ascii_case("none") => {
            Some(Length::Auto)
        }
        Ok(token) => token_length(token),
        Err(_) => None,
    };
    if found.is_none() {
        input.reset(&state);
    }
    found
}

fn token_length(token: &Token<'_>) -> Option<Length> {
    Some(match token {
        // Unitless lengths are invalid but for 0; mail readers take them as pixels.
        Token::Number { value, .. } => Length::Px(*value),
        Token::Percentage { unit_value, .. } => Length::Percent(*unit_value),
        Token::Dimension { value, unit, .. } => match &*unit.to_ascii_lowercase() {
            "em" | "ex" | "ch" => Length::Em(*value),
            "rem" => Length::Rem(*value),
            "pt" => Length::Px(value * 4.0 / 3.0),
            "pc" => Length::Px(value * 16.0),
            "in" => Length::Px(value * 96.0),
            "cm" => Length::Px(value * 96.0 / 2.54),
            "mm" => Length::Px(value * 96.0 / 25.4),
            "vw" | "vh" | "vmin" | "vmax" => Length::Px(value * 10.0),
            _ => Length::Px(*value),
        },
        _ => return None,
    })
}

fn named_size(word: &str) -> Option<Length> {
    Some(match word {
        "xx-small" => Length::Px(9.0),
        "x-small" => Length::Px(10.0),
        "small" => Length::Px(13.0),
        "medium" | "initial" => Length::Px(16.0),
        "large" => Length::Px(18.0),
        "x-large" => Length::Px(24.0),
        "xx-large" | "xxx-large" => Length::Px(32.0),
        "smaller" => Length::Em(0.83),
        "larger" => Length::Em(1.2),
        _ => return None,
    })
}

/// Words that take back what a property was set to before.
fn resets(word: &str) -> bool {
    matches!(word, "none" | "auto" | "initial" | "inherit" | "unset" | "revert" | "revert-layer")
}

/// Whether `rect(top, right, bottom, left)` is without area; `None`: not a value of the property, so an earlier one stands.
fn clip_rect(input: &mut Parser<'_>) -> Option<bool> {
    if let Some(word) = ident(input) {
        return resets(&word).then_some(false);
    }
    input.expect_function_matching("rect").ok()?;
    let mut sides: Vec<f32> = Vec::new();
    let mut auto = false;
    let _ = input.parse_nested_block(|input| -> Result<(), Error<'_>> {
        while let Ok(token) = input.next() {
            match token_length(token) {
                Some(Length::Px(v)) => sides.push(v),
                Some(_) => auto = true,
                None => auto |= matches!(token, Token::Ident(_)),
            }
        }
        Ok(())
    });
    Some(!auto && matches!(sides[..], [top, right, bottom, left] if bottom - top <= 1.0 || right - left <= 1.0))
}

fn amount(length: &Length) -> f32 {
    match length {
        Length::Px(v) | Length::Em(v) | Length::Rem(v) | Length::Percent(v) => *v,
        Length::Auto => 1.0,
    }
}

fn scales_away(factor: &Length) -> bool {
    amount(factor).abs() < 0.05
}

/// Browsers take a `zoom` of 0 for 1, and drop one below.
fn zooms_away(factor: &Length) -> bool {
    amount(factor) > 0.0 && scales_away(factor)
}

fn moves_away(distance: &Length) -> bool {
    match distance {
        Length::Px(v) => v.abs() >= 2000.0,
        Length::Percent(v) => v.abs() >= 10.0,
        _ => false,
    }
}

/// Whether the functions of a value take an element out of sight; `None`: not a value of the property, so an earlier one stands.
fn vanishing_function(input: &mut Parser<'_>) -> Option<bool> {
    let mut vanishes = None;
    loop {
        let before = input.state();
        let Ok(token) = input.next().cloned() else { break };
        let name = match token {
            Token::Function(name) => name.to_ascii_lowercase(),
            Token::Delim('!') => {
                input.reset(&before);
                break;
            }
            Token::UnquotedUrl(_) => {
                vanishes = vanishes.or(Some(false));
                continue;
            }
            Token::Ident(word) => {
                // Beside functions, a `clip-path` may name the box it clips by.
                let word = word.to_ascii_lowercase();
                if !(resets(&word) || word.ends_with("-box")) {
                    return None;
                }
                vanishes = vanishes.or(Some(false));
                continue;
            }
            _ => return None,
        };
        let mut args: Vec<Length> = Vec::new();
        let _ = input.parse_nested_block(|input| -> Result<(), Error<'_>> {
            while let Ok(token) = input.next() {
                args.extend(token_length(token));
            }
            Ok(())
        });
        let first = args.first().map(amount);
        let away = match name.as_str() {
            "inset" => {
                args.iter().any(|l| matches!(l, Length::Percent(v) if *v >= 0.5)) && args.len() <= 2
                    || matches!(args.first(), Some(Length::Percent(v)) if *v >= 1.0)
            }
            "circle" | "ellipse" => first.is_some_and(|v| v == 0.0),
            "polygon" => args.iter().all(|l| amount(l) == 0.0) && !args.is_empty(),
            "matrix" | "matrix3d" => {
                first.is_some_and(|v| v.abs() < 0.05) && args.iter().take(4).all(|l| amount(l) == 0.0)
            }
            "scale" | "scalex" | "scaley" | "scale3d" => args.iter().any(scales_away),
            "translate" | "translatex" | "translatey" | "translate3d" => args.iter().any(moves_away),
            "opacity" => first.is_some_and(|v| v < 0.05),
            _ => false,
        };
        vanishes = Some(away || vanishes == Some(true));
    }
    vanishes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_that_matter() {
        assert_eq!(
            inline("DISPLAY : none!important; color:#fff"),
            [(Declaration::Display(Display::None), true), (Declaration::Color(Some(Rgba::WHITE)), false)]
        );
        assert_eq!(inline("d\\69splay:none")[0].0, Declaration::Display(Display::None));
        assert_eq!(inline("font:bold 0/0 a")[0].0, Declaration::FontSize(Length::Px(0.0)));
        assert_eq!(inline("font-size:12pt")[0].0, Declaration::FontSize(Length::Px(16.0)));
        assert_eq!(inline("background:url(x.png) white")[0].0, Declaration::Background(None));
        let vanishes = |style: &str| match inline(style)[..] {
            [(Declaration::Vanishes(_, vanishes), _)] => Some(vanishes),
            _ => None,
        };
        for (style, expected) in [
            ("clip:rect(0 0 0 0)", Some(true)),
            ("clip:auto", Some(false)),
            ("clip:nonsense", None),
            ("transform:scale(0)", Some(true)),
            ("transform:rotate(4deg)", Some(false)),
            ("transform:none !important", Some(false)),
            ("transform:nonsense", None),
            ("transform:4px", None),
            ("clip-path:url(#a)", Some(false)),
            ("clip-path:inset(100%) border-box", Some(true)),
            ("scale:0 1", Some(true)),
            ("scale:none", Some(false)),
            ("translate:-9999px", Some(true)),
            ("zoom:0", Some(false)),
            ("zoom:0%", Some(false)),
            ("zoom:normal", Some(false)),
            ("zoom:1%", Some(true)),
            ("zoom:.01", Some(true)),
            ("zoom:nonsense", None),
            ("zoom:none", None),
        ] {
            assert_eq!(vanishes(style), expected, "{style}");
        }
        assert_eq!(inline("letter-spacing:normal")[0].0, Declaration::LetterSpacing(Some(Length::Auto)));
        assert_eq!(inline("letter-spacing:-1em")[0].0, Declaration::LetterSpacing(Some(Length::Em(-1.0))));
    }

    #[test]
    fn media_queries_for_a_desktop() {
        for (query, holds) in [
            ("screen", true),
            ("all and (min-width:480px)", true),
            ("only screen and (max-width:600px)", false),
            ("print", false),
            ("(prefers-color-scheme: dark)", false),
            ("print, screen", true),
        ] {
            assert_eq!(applies(query), holds, "{query}");
        }
        let mut rules = Vec::new();
        sheet("p{color:red} @media print{p{display:none}} @media screen{.a,.b{display:none}}", 100, &mut rules);
        assert_eq!(rules.len(), 3);
    }
}
