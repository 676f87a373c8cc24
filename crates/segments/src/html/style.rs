//! Computed style, as far as it decides whether a person sees an element's text.

use std::collections::HashMap;

use html5ever::{Attribute, LocalName, local_name};
use selectors::context::SelectorCaches;
use selectors::parser::Component;

use super::color::{self, Rgba};
use super::css::{self, Declaration, Display, Length, Rule};
use super::matching::{self, Matcher};
use super::tree::{Id, Tree};

/// Below this contrast of text and background nobody reads the text; grey small print starts at about 1.5.
const MIN_CONTRAST: f32 = 1.2;
/// At this font size and below nobody reads the text.
const MAX_HIDDEN_PX: f32 = 1.0;
/// Letter spacing in font sizes at which letters, about half a font size wide, are drawn onto one spot; tight headings stay above
/// minus a tenth.
const COLLAPSED: f32 = -0.5;
/// Distance that takes a box off any screen.
const OFF_SCREEN: f32 = 500.0;

/// What an element hands on to its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Why nothing in this subtree is seen.
    pub(super) hidden: Option<Hiding>,
    pub(super) invisible: bool,
    opacity: f32,
    font_px: f32,
    /// Pixels, as the element that set it computed them.
    letter_spacing: f32,
    color: Rgba,
    /// `None`: an image, or a colour that can't be told.
    background: Option<Rgba>,
    pub(super) preserves: bool,
    pub(super) display: Option<Display>,
    /// Why text directly in this element is not seen.
    pub(super) verdict: Option<Hiding>,
}

/// How text is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hiding {
    /// By a style or attribute that hides: the word names it.
    Style(&'static str),
    /// By the element's nature (scripts, templates, fallbacks): no hiding style.
    Nature,
}

impl Style {
    pub(super) const ROOT: Self = Self {
        hidden: None,
        invisible: false,
        opacity: 1.0,
        font_px: 16.0,
        letter_spacing: 0.0,
        color: Rgba::BLACK,
        background: Some(Rgba::WHITE),
        preserves: false,
        display: None,
        verdict: None,
    };

    /// Hides everything in the element by its nature.
    pub(super) fn hide_by_nature(&mut self) {
        if self.hidden.is_none() {
            self.hidden = Some(Hiding::Nature);
            self.verdict = self.hidden;
        }
    }

    /// Decides once for all texts of the element.
    fn settle(&mut self, parent: &Self) {
        // Contrast takes time, and most elements look like their parent.
        self.verdict = if self.looks_like(parent) { parent.verdict } else { self.hides_text() };
    }

    /// Whether text is seen as it is in another style.
    fn looks_like(&self, other: &Self) -> bool {
        self.hidden == other.hidden
            && self.invisible == other.invisible
            && self.font_px == other.font_px
            && self.letter_spacing == other.letter_spacing
            && self.color == other.color
            && self.background == other.background
    }

    /// Why a person does not see text directly in this element.
    fn hides_text(&self) -> Option<Hiding> {
        if self.hidden.is_some() {
            return self.hidden;
        }
        if self.invisible {
            return Some(Hiding::Style("visibility"));
        }
        if self.font_px <= MAX_HIDDEN_PX {
            return Some(Hiding::Style("font-size"));
        }
        if self.letter_spacing <= self.font_px * COLLAPSED {
            return Some(Hiding::Style("letter-spacing"));
        }
        if self.color.a < 0.05 {
            return Some(Hiding::Style("transparent"));
        }
        let background = self.background?;
        let seen = self.color.over(background);
        (color::contrast(seen, background) < MIN_CONTRAST).then_some(Hiding::Style("same colour"))
    }
}

/// A document's style sheets, ready to look rules up.
pub(super) struct Sheets {
    rules: Vec<(Rule, u32)>,
    by_id: HashMap<String, Vec<u32>>,
    by_class: HashMap<String, Vec<u32>>,
    by_name: HashMap<String, Vec<u32>>,
    rest: Vec<u32>,
    /// Sheets that are not in the message may set any background.
    pub(super) external: bool,
}

impl Sheets {
    pub(super) fn new(texts: &[String], external: bool) -> Self {
        let mut rules = Vec::new();
        for text in texts {
            css::sheet(text, 20_000, &mut rules);
        }
        let mut sheets = Self {
            rules: Vec::new(),
            by_id: HashMap::new(),
            by_class: HashMap::new(),
            by_name: HashMap::new(),
            rest: Vec::new(),
            external: external || texts.iter().any(|t| t.contains("@import")),
        };
        for (i, rule) in rules.into_iter().enumerate() {
            let (i, specificity) = (i as u32, rule.selector.specificity());
            let (mut id, mut class, mut name) = (None, None, None);
            for component in rule.selector.iter() {
                match component {
                    Component::ID(v) => id = Some(matching::text(v)),
                    Component::Class(v) => class = Some(matching::text(v)),
                    Component::LocalName(v) => name = Some(v.lower_name.0.to_string()),
                    _ => {}
                }
            }
            // Quirks mode compares ids and classes without case, so the index does; the match itself decides.
            match (id, class, name) {
                (Some(id), _, _) => sheets.by_id.entry(id.to_ascii_lowercase()).or_default().push(i),
                (_, Some(class), _) => sheets.by_class.entry(class.to_ascii_lowercase()).or_default().push(i),
                (_, _, Some(name)) => sheets.by_name.entry(name).or_default().push(i),
                _ => sheets.rest.push(i),
            }
            sheets.rules.push((rule, specificity));
        }
        sheets
    }

    /// The declarations of every rule that matches, weakest first.
    fn matching(
        &self,
        tree: &Tree,
        id: Id,
        matcher: &Matcher<'_>,
        caches: &mut SelectorCaches,
    ) -> Vec<(Declaration, bool)> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let mut candidates: Vec<u32> = self.rest.clone();
        if let Some(list) = tree.attr(id, local_name!("id")).and_then(|v| self.by_id.get(&v.to_ascii_lowercase())) {
            candidates.extend(list);
        }
        if let (Some(value), false) = (tree.attr(id, local_name!("class")), self.by_class.is_empty()) {
            for class in value.split_ascii_whitespace().take(256) {
                candidates.extend(self.by_class.get(&class.to_ascii_lowercase()).into_iter().flatten());
            }
        }
        if let Some((name, _)) = tree.node(id).element() {
            candidates.extend(self.by_name.get(&*name.local).into_iter().flatten());
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut found: Vec<(u32, u32)> = Vec::new();
        for i in candidates {
            if !matcher.take(1) {
                break;
            }
            let (rule, specificity) = &self.rules[i as usize];
            if matcher.matches(&rule.selector, id, caches) {
                found.push((*specificity, i));
            }
        }
        found.sort_unstable();
        let declared = |(_, i): &(u32, u32)| self.rules[*i as usize].0.declarations.iter().copied();
        found.iter().flat_map(declared).collect()
    }
}

/// What the declarations say about the element's box, beyond what is inherited.
#[derive(Debug, Clone, Copy, Default)]
struct Box_ {
    width: Option<Length>,
    max_width: Option<Length>,
    letter_spacing: Option<Length>,
    height: Option<Length>,
    max_height: Option<Length>,
    clips: bool,
    absolute: bool,
    sides: [Option<Length>; 4],
    indent: Option<Length>,
    margins: [Option<Length>; 2],
    /// One bit for each property of [`Vanishing`].
    vanishes: u8,
    /// An element that is drawn from elsewhere has no size by its attributes.
    without_size: bool,
    mso: bool,
    opacity: f32,
    hidden_attr: Option<&'static str>,
}

/// Computes an element's style from its parent's.
pub(super) fn compute(
    tree: &Tree,
    id: Id,
    parent: &Style,
    body_color: Rgba,
    sheets: &Sheets,
    matcher: &Matcher<'_>,
    caches: &mut SelectorCaches,
) -> Style {
    let mut style = Style { display: None, ..*parent };
    let Some((name, attrs)) = tree.node(id).element() else { return style };
    let local = &name.local;
    let plain = attrs.is_empty() && sheets.rules.is_empty();
    if plain && !styled_by_nature(local) {
        return style;
    }
    let mut box_ = Box_ { opacity: 1.0, ..Box_::default() };
    match *local {
        local_name!("a") if tree.attr(id, local_name!("href")).is_some() => style.color = Rgba::LINK,
        // In quirks mode a table takes neither size nor colour from around it, but for the body's colour.
        local_name!("table") if tree.quirks => (style.font_px, style.color) = (16.0, body_color),
        local_name!("pre")
        | local_name!("textarea")
        | local_name!("listing")
        | local_name!("xmp")
        | local_name!("plaintext") => style.preserves = true,
        local_name!("button") | local_name!("input") | local_name!("select") => {
            (style.color, style.background) = (Rgba::BLACK, None);
        }
        local_name!("mark") => (style.color, style.background) = (Rgba::BLACK, Some(Rgba { b: 0.0, ..Rgba::WHITE })),
        _ => {}
    }
    let named = |a: &Attribute| matches!(a.name.local, local_name!("class") | local_name!("id"));
    if sheets.external && attrs.iter().any(named) {
        style.background = None;
    }
    presentational(local, attrs, &mut style, &mut box_);
    let ruled = sheets.matching(tree, id, matcher, caches);
    let inline = tree.attr(id, local_name!("style")).map(css::inline).unwrap_or_default();
    for important in [false, true] {
        for (declaration, _) in ruled.iter().chain(&inline).filter(|(_, i)| *i == important) {
            apply(declaration, parent, &mut style, &mut box_);
        }
    }
    finish(&mut style, &box_, parent);
    style.settle(parent);
    style
}

/// Elements that look other than their parent without any attribute or rule.
fn styled_by_nature(local: &LocalName) -> bool {
    matches!(
        *local,
        local_name!("table")
            | local_name!("pre")
            | local_name!("textarea")
            | local_name!("listing")
            | local_name!("xmp")
            | local_name!("plaintext")
            | local_name!("button")
            | local_name!("input")
            | local_name!("select")
            | local_name!("mark")
    )
}

/// Attributes that style.
fn presentational(local: &LocalName, attrs: &[Attribute], style: &mut Style, box_: &mut Box_) {
    let is_font = *local == local_name!("font");
    for attr in attrs {
        let value = &*attr.value;
        match attr.name.local {
            local_name!("bgcolor") => {
                if let Some(color) = color::legacy(value) {
                    style.background = Some(color);
                }
            }
            local_name!("background") if !value.is_empty() => style.background = None,
            local_name!("color") if is_font => style.color = color::legacy(value).unwrap_or(style.color),
            local_name!("text") if *local == local_name!("body") => {
                style.color = color::legacy(value).unwrap_or(style.color);
            }
            local_name!("size") if is_font => style.font_px = font_size(value, style.font_px),
            local_name!("hidden") => box_.hidden_attr = Some("hidden attribute"),
            local_name!("aria-hidden") if value.trim().eq_ignore_ascii_case("true") => {
                style.hidden = style.hidden.or(Some(Hiding::Nature));
            }
            local_name!("height") | local_name!("width") if value.trim() == "0" => {
                box_.without_size |= matches!(
                    *local,
                    local_name!("marquee") | local_name!("iframe") | local_name!("object") | local_name!("embed")
                );
            }
            _ => {}
        }
    }
}

/// The seven sizes of the `font` element.
fn font_size(value: &str, parent: f32) -> f32 {
    let value = value.trim();
    let digits: String = value.chars().filter(char::is_ascii_digit).take(3).collect();
    let Ok(number) = digits.parse::<i32>() else { return parent };
    let step = match value.as_bytes().first() {
        Some(b'+') => 3 + number,
        Some(b'-') => 3 - number,
        _ => number,
    };
    [10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0][(step.clamp(1, 7) - 1) as usize]
}

fn apply(declaration: &Declaration, parent: &Style, style: &mut Style, box_: &mut Box_) {
    use Declaration as D;
    match *declaration {
        D::Display(display) => style.display = Some(display),
        D::Hidden(hidden) => style.invisible = hidden,
        D::Opacity(value) => box_.opacity = value,
        D::FontSize(length) => {
            style.font_px = match length {
                Length::Px(v) => v,
                Length::Em(v) | Length::Percent(v) => v * parent.font_px,
                Length::Rem(v) => v * 16.0,
                Length::Auto => style.font_px,
            }
        }
        D::Color(Some(color)) => style.color = color,
        D::Color(None) => style.color = parent.color,
        D::Background(Some(color)) => {
            // A later colour does not take an image away, but a plain `background` does; either way it is a guess in favour of seen.
            style.background = match (color.a, parent.background) {
                (a, _) if a >= 0.99 => Some(color),
                (_, Some(under)) => Some(color.over(under)),
                (_, None) => None,
            };
        }
        D::Background(None) => style.background = None,
        D::LetterSpacing(v) => box_.letter_spacing = v,
        D::Width(v) => box_.width = Some(v),
        D::MaxWidth(v) => box_.max_width = Some(v),
        D::Height(v) => box_.height = Some(v),
        D::MaxHeight(v) => box_.max_height = Some(v),
        D::ClipsOverflow(v) => box_.clips = v,
        D::Absolute(v) => box_.absolute = v,
        D::Left(v) => box_.sides[0] = Some(v),
        D::Top(v) => box_.sides[1] = Some(v),
        D::Right(v) => box_.sides[2] = Some(v),
        D::Bottom(v) => box_.sides[3] = Some(v),
        D::Indent(v) => box_.indent = Some(v),
        D::MarginLeft(v) => box_.margins[0] = Some(v),
        D::MarginTop(v) => box_.margins[1] = Some(v),
        D::Vanishes(property, true) => box_.vanishes |= 1 << property as u8,
        D::Vanishes(property, false) => box_.vanishes &= !(1 << property as u8),
        D::Preserves(v) => style.preserves = v,
        D::MsoHide(v) => box_.mso = v,
    }
}

fn px(length: Option<Length>, font_px: f32) -> Option<f32> {
    match length? {
        Length::Px(v) => Some(v),
        Length::Em(v) => Some(v * font_px),
        Length::Rem(v) => Some(v * 16.0),
        Length::Percent(v) => Some(v * 1000.0),
        Length::Auto => None,
    }
}

/// Decides whether the element's box hides all that is in it.
fn finish(style: &mut Style, box_: &Box_, parent: &Style) {
    if let Some(spacing) = box_.letter_spacing {
        style.letter_spacing = match spacing {
            Length::Percent(v) => v * style.font_px,
            spacing => px(Some(spacing), style.font_px).unwrap_or(0.0),
        };
    }
    style.opacity = parent.opacity * box_.opacity.clamp(0.0, 1.0);
    if style.hidden.is_some() {
        return;
    }
    let size = |l| px(l, 16.0);
    let zero = |l: Option<Length>| size(l).is_some_and(|v| v <= 1.0);
    let no_size = [box_.width, box_.max_width, box_.height, box_.max_height].into_iter().any(zero);
    let beyond = |l: Option<Length>, least: f32| size(l).is_some_and(|v| v <= -least);
    let far = |l: Option<Length>| beyond(l, OFF_SCREEN) || size(l).is_some_and(|v| v >= 5000.0);
    let moved = box_.absolute && box_.sides.iter().any(|s| far(*s));
    let reason = if style.display == Some(Display::None) {
        Some("display")
    } else if let (Some(attr), None | Some(Display::Other)) = (box_.hidden_attr, style.display) {
        Some(attr)
    } else if style.opacity < 0.05 {
        Some("opacity")
    } else if box_.clips && no_size {
        Some("size")
    } else if box_.vanishes != 0 || box_.without_size {
        Some("clip or transform")
    } else if moved || beyond(box_.indent, OFF_SCREEN) || box_.margins.iter().any(|m| beyond(*m, OFF_SCREEN)) {
        Some("off screen")
    } else if box_.mso && style.font_px <= 2.0 {
        Some("mso-hide")
    } else {
        None
    };
    style.hidden = reason.map(Hiding::Style);
}

/// The colour that a quirks-mode table takes.
pub(super) fn color_of(style: &Style) -> Rgba {
    style.color
}
