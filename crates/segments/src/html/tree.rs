//! The tree that html5ever builds, in one vector.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::fmt;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, ns};

/// An index into the tree. 0 is the document.
pub(super) type Id = u32;

/// No node.
pub(super) const NONE: Id = u32::MAX;

#[derive(Debug)]
pub(super) enum Data {
    Document,
    Element { name: QualName, attrs: Vec<Attribute> },
    Text(StrTendril),
    Comment(StrTendril),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: Id,
    pub(super) first: Id,
    pub(super) last: Id,
    pub(super) prev: Id,
    pub(super) next: Id,
    pub(super) data: Data,
}

impl Node {
    fn new(data: Data) -> Self {
        Self { parent: NONE, first: NONE, last: NONE, prev: NONE, next: NONE, data }
    }

    pub(super) fn element(&self) -> Option<(&QualName, &[Attribute])> {
        match &self.data {
            Data::Element { name, attrs } => Some((name, attrs)),
            _ => None,
        }
    }
}

/// A finished tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) quirks: bool,
}

impl Tree {
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// An attribute's value; names are in lower case.
    pub(super) fn attr(&self, id: Id, name: LocalName) -> Option<&str> {
        let (_, attrs) = self.node(id).element()?;
        attrs.iter().find(|a| a.name.local == name).map(|a| &*a.value)
    }

    /// The text right below a node.
    pub(super) fn own_text(&self, id: Id) -> String {
        let mut out = String::new();
        let mut child = self.node(id).first;
        while child != NONE {
            if let Data::Text(text) = &self.node(child).data {
                out.push_str(text);
            }
            child = self.node(child).next;
        }
        out
    }
}

/// A tree under construction.
#[derive(Debug)]
pub(super) struct Sink {
    nodes: RefCell<Vec<Node>>,
    quirks: Cell<bool>,
}

impl Sink {
    pub(super) fn new(capacity: usize) -> Self {
        let mut nodes = Vec::with_capacity(capacity);
        nodes.push(Node::new(Data::Document));
        Self { nodes: RefCell::new(nodes), quirks: Cell::new(false) }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    fn create(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node::new(data));
        (nodes.len() - 1) as Id
    }
}

fn detach(nodes: &mut [Node], id: Id) {
    let (parent, prev, next) = {
        let node = &mut nodes[id as usize];
        let links = (node.parent, node.prev, node.next);
        (node.parent, node.prev, node.next) = (NONE, NONE, NONE);
        links
    };
    if prev != NONE {
        nodes[prev as usize].next = next;
    } else if parent != NONE {
        nodes[parent as usize].first = next;
    }
    if next != NONE {
        nodes[next as usize].prev = prev;
    } else if parent != NONE {
        nodes[parent as usize].last = prev;
    }
}

fn append(nodes: &mut [Node], parent: Id, id: Id) {
    detach(nodes, id);
    let last = nodes[parent as usize].last;
    let node = &mut nodes[id as usize];
    (node.parent, node.prev) = (parent, last);
    if last == NONE {
        nodes[parent as usize].first = id;
    } else {
        nodes[last as usize].next = id;
    }
    nodes[parent as usize].last = id;
}

fn insert_before(nodes: &mut [Node], sibling: Id, id: Id) {
    detach(nodes, id);
    let (parent, prev) = (nodes[sibling as usize].parent, nodes[sibling as usize].prev);
    let node = &mut nodes[id as usize];
    (node.parent, node.prev, node.next) = (parent, prev, sibling);
    nodes[sibling as usize].prev = id;
    if prev == NONE {
        nodes[parent as usize].first = id;
    } else {
        nodes[prev as usize].next = id;
    }
}

/// Appends text to a text node, if that is what the node is.
fn merge(nodes: &mut [Node], id: Id, text: &StrTendril) -> bool {
    match nodes.get_mut(id as usize).map(|n| &mut n.data) {
        Some(Data::Text(existing)) => {
            existing.push_tendril(text);
            true
        }
        _ => false,
    }
}

/// An element's name, borrowed from the tree.
pub(super) struct Name<'a>(Ref<'a, QualName>);

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl html5ever::interface::ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Tree;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner(), quirks: self.quirks.get() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name<'a> {
        static UNNAMED: std::sync::LazyLock<QualName> =
            std::sync::LazyLock::new(|| QualName::new(None, ns!(html), LocalName::from("div")));
        Name(Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element { name, .. } => name,
            // The tree builder asks only for elements.
            _ => &*UNNAMED,
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> Id {
        self.create(Data::Element { name, attrs })
    }

    fn create_comment(&self, text: StrTendril) -> Id {
        self.create(Data::Comment(text))
    }

    fn create_pi(&self, target: StrTendril, _: StrTendril) -> Id {
        self.create(Data::Comment(target))
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        let id = match child {
            NodeOrText::AppendNode(id) => id,
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let last = nodes[*parent as usize].last;
                if merge(&mut nodes, last, &text) {
                    return;
                }
                drop(nodes);
                self.create(Data::Text(text))
            }
        };
        append(&mut self.nodes.borrow_mut(), *parent, id);
    }

    fn append_based_on_parent_node(&self, element: &Id, prev_element: &Id, child: NodeOrText<Id>) {
        let has_parent = self.nodes.borrow()[*element as usize].parent != NONE;
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(prev_element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The contents of a template are its children here: they are hidden either way.
    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.quirks.set(mode == QuirksMode::Quirks);
    }

    fn append_before_sibling(&self, sibling: &Id, new_node: NodeOrText<Id>) {
        let id = match new_node {
            NodeOrText::AppendNode(id) => id,
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let prev = nodes[*sibling as usize].prev;
                if merge(&mut nodes, prev, &text) {
                    return;
                }
                drop(nodes);
                self.create(Data::Text(text))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        if nodes[*sibling as usize].parent == NONE {
            return;
        }
        insert_before(&mut nodes, *sibling, id);
    }

    fn add_attrs_if_missing(&self, target: &Id, new: Vec<Attribute>) {
        if let Data::Element { attrs, .. } = &mut self.nodes.borrow_mut()[*target as usize].data {
            for attr in new {
                if attrs.len() < 1000 && !attrs.iter().any(|a| a.name == attr.name) {
                    attrs.push(attr);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        detach(&mut self.nodes.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        let mut nodes = self.nodes.borrow_mut();
        loop {
            let child = nodes[*node as usize].first;
            if child == NONE {
                return;
            }
            append(&mut nodes, *new_parent, child);
        }
    }
}
