//! Selector matching over the tree, with an account of its steps.

use std::borrow::Borrow;
use std::cell::Cell;
use std::fmt;

use cssparser::{ParseError, ToCss};
use html5ever::{LocalName, Namespace, local_name, ns};
use precomputed_hash::PrecomputedHash;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector};
use selectors::parser::{NonTSPseudoClass, Selector, SelectorImpl, SelectorParseErrorKind};
use selectors::{Element, OpaqueElement};

use super::tree::{Data, Id, NONE, Tree};

/// The names and values that our selectors are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selectors;

/// A name or value in a selector.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Text {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        cssparser::serialize_string(&self.0, dest)
    }
}

impl PrecomputedHash for Text {
    fn precomputed_hash(&self) -> u32 {
        // FNV-1a.
        self.0.bytes().fold(0x811c_9dc5, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
    }
}

/// An element's or attribute's name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name(pub(super) LocalName);

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(LocalName::from(text))
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str(&self.0)
    }
}

impl PrecomputedHash for Name {
    fn precomputed_hash(&self) -> u32 {
        self.0.precomputed_hash()
    }
}

impl Borrow<LocalName> for Name {
    fn borrow(&self) -> &LocalName {
        &self.0
    }
}

/// Pseudo-classes that a mail reader's page can be in without a person's doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PseudoClass {
    Link,
    /// `:hover` and the like, which hold only while a person acts.
    Never,
}

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str(if *self == Self::Link { ":link" } else { ":hover" })
    }
}

impl NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        *self == Self::Never
    }

    fn is_user_action_state(&self) -> bool {
        *self == Self::Never
    }
}

/// There are none: rules for `::before` and the like hide no text of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PseudoElement {}

impl ToCss for PseudoElement {
    fn to_css<W: fmt::Write>(&self, _: &mut W) -> fmt::Result {
        Ok(())
    }
}

impl selectors::parser::PseudoElement for PseudoElement {}

impl SelectorImpl for Selectors {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Text;
    type Identifier = Text;
    type LocalName = Name;
    type NamespaceUrl = Namespace;
    type NamespacePrefix = Name;
    type BorrowedNamespaceUrl = Namespace;
    type BorrowedLocalName = LocalName;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = PseudoElement;
}

/// Reads selectors.
pub(super) struct SelectorReader;

/// A selector that is not supported.
#[derive(Debug)]
pub(super) struct Unsupported;

impl From<SelectorParseErrorKind> for Unsupported {
    fn from(_: SelectorParseErrorKind) -> Self {
        Self
    }
}

impl<'i> selectors::parser::Parser<'i> for SelectorReader {
    type Impl = Selectors;
    type Error = Unsupported;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Result<PseudoClass, ParseError<Unsupported>> {
        match &*name.to_ascii_lowercase() {
            "link" | "any-link" => Ok(PseudoClass::Link),
            "hover" | "active" | "focus" | "visited" | "focus-within" | "focus-visible" | "checked" | "target" => {
                Ok(PseudoClass::Never)
            }
            _ => Err(ParseError::custom(Unsupported)),
        }
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        _: &str,
        _: &mut cssparser::Parser<'i>,
        _: bool,
    ) -> Result<PseudoClass, ParseError<Unsupported>> {
        Err(ParseError::custom(Unsupported))
    }

    fn namespace_for_prefix(&self, _: &Name) -> Option<Namespace> {
        None
    }
}

/// Matches selectors, until its steps are spent: then nothing matches any more.
pub(super) struct Matcher<'t> {
    tree: &'t Tree,
    steps: Cell<usize>,
}

impl<'t> Matcher<'t> {
    pub(super) fn new(tree: &'t Tree, steps: usize) -> Self {
        Self { tree, steps: Cell::new(steps) }
    }

    pub(super) fn spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// Takes steps from the account; false when they are spent.
    pub(super) fn take(&self, steps: usize) -> bool {
        let left = self.steps.get().saturating_sub(steps);
        self.steps.set(left);
        left > 0
    }

    pub(super) fn matches(&self, selector: &Selector<Selectors>, id: Id, caches: &mut SelectorCaches) -> bool {
        let quirks = if self.tree.quirks { QuirksMode::Quirks } else { QuirksMode::NoQuirks };
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            caches,
            quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        self.take(1) && matches_selector(selector, 0, None, Handle { matcher: self, id }, &mut context)
    }
}

/// One element, as selectors see it.
#[derive(Clone, Copy)]
struct Handle<'m, 't> {
    matcher: &'m Matcher<'t>,
    id: Id,
}

impl fmt::Debug for Handle<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}

impl Handle<'_, '_> {
    /// The first element from `start` on, going by `next`.
    fn seek(self, start: Id, next: fn(&super::tree::Node) -> Id) -> Option<Self> {
        let mut id = start;
        while id != NONE && self.matcher.take(1) {
            let node = self.matcher.tree.node(id);
            if node.element().is_some() {
                return Some(Self { id, ..self });
            }
            id = next(node);
        }
        None
    }
}

impl Element for Handle<'_, '_> {
    type Impl = Selectors;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.matcher.tree.node(self.id))
    }

    fn parent_element(&self) -> Option<Self> {
        let parent = self.matcher.tree.node(self.id).parent;
        if parent == NONE || parent == 0 || !self.matcher.take(1) {
            return None;
        }
        Some(Self { id: parent, ..*self })
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.seek(self.matcher.tree.node(self.id).prev, |n| n.prev)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.seek(self.matcher.tree.node(self.id).next, |n| n.next)
    }

    fn first_element_child(&self) -> Option<Self> {
        self.seek(self.matcher.tree.node(self.id).first, |n| n.next)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.has_namespace(&ns!(html))
    }

    fn has_local_name(&self, name: &LocalName) -> bool {
        self.matcher.tree.node(self.id).element().is_some_and(|(n, _)| n.local == *name)
    }

    fn has_namespace(&self, ns: &Namespace) -> bool {
        self.matcher.tree.node(self.id).element().is_some_and(|(n, _)| n.ns == *ns)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        let name = |id| self.matcher.tree.node(id).element().map(|(n, _)| (&n.ns, &n.local));
        name(self.id) == name(other.id)
    }

    fn attr_matches(
        &self,
        ns: &NamespaceConstraint<&Namespace>,
        local_name: &Name,
        operation: &AttrSelectorOperation<&Text>,
    ) -> bool {
        let Some((_, attrs)) = self.matcher.tree.node(self.id).element() else { return false };
        attrs.iter().any(|attr| {
            let right_ns = matches!(ns, NamespaceConstraint::Any)
                || matches!(ns, NamespaceConstraint::Specific(url) if **url == attr.name.ns);
            right_ns
                && attr.name.local == local_name.0
                && self.matcher.take(1 + attr.value.len() / 16)
                && operation.eval_str(&attr.value)
        })
    }

    fn match_non_ts_pseudo_class(&self, pc: &PseudoClass, _: &mut MatchingContext<'_, Selectors>) -> bool {
        *pc == PseudoClass::Link && self.is_link()
    }

    fn match_pseudo_element(&self, _: &PseudoElement, _: &mut MatchingContext<'_, Selectors>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.has_local_name(&local_name!("a")) && self.matcher.tree.attr(self.id, local_name!("href")).is_some()
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Text, case: CaseSensitivity) -> bool {
        let Some(value) = self.matcher.tree.attr(self.id, local_name!("id")) else { return false };
        self.matcher.take(1 + value.len() / 16) && case.eq(value.as_bytes(), id.0.as_bytes())
    }

    fn has_class(&self, name: &Text, case: CaseSensitivity) -> bool {
        let Some(value) = self.matcher.tree.attr(self.id, local_name!("class")) else { return false };
        self.matcher.take(1 + value.len() / 16)
            && value.split_ascii_whitespace().any(|class| case.eq(class.as_bytes(), name.0.as_bytes()))
    }

    fn has_custom_state(&self, _: &Text) -> bool {
        false
    }

    fn imported_part(&self, _: &Text) -> Option<Text> {
        None
    }

    fn is_part(&self, _: &Text) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        let mut child = self.matcher.tree.node(self.id).first;
        while child != NONE && self.matcher.take(1) {
            let node = self.matcher.tree.node(child);
            if node.element().is_some() || matches!(&node.data, Data::Text(t) if !t.is_empty()) {
                return false;
            }
            child = node.next;
        }
        true
    }

    fn is_root(&self) -> bool {
        self.matcher.tree.node(self.id).parent == 0
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}

/// The part of a name that rules can be looked up by.
pub(super) fn text(name: &Text) -> &str {
    &name.0
}
