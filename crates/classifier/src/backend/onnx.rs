//! An ONNX graph of an architecture, written from its weights, so that ONNX Runtime needs no exported file.

use std::collections::HashMap;

use crate::arch::{Activation, Architecture, MASKED, Ops, Table};
use crate::weights::Weights;

/// Version of the operator set: the first with `Gelu`.
const OPERATORS: i64 = 20;

/// Tokens of the tables whose shapes are looked at: odd, unlike a head's size, so that an axis of tokens is told from one of units.
const SAMPLE: usize = 3;

/// Writes the model's graph as the bytes of a `.onnx` file.
///
/// Inputs: `ids` `[B, T]` and `kept` `[B, T, 1]` (1 at tokens, 0 at padding), then the architecture's tables by their names.
/// Output: `logits` `[B, labels]`.
pub(crate) fn graph(architecture: &Architecture, weights: Weights) -> Result<Vec<u8>, String> {
    let mut graph =
        Graph { weights, names: HashMap::new(), nodes: Message::default(), initializers: Message::default(), count: 0 };
    let mut inputs = Message::default();
    inputs.message(11, &value("ids", INT64, &[Dim::Any("B"), Dim::Any("T")]));
    inputs.message(11, &value("kept", FLOAT, &[Dim::Any("B"), Dim::Any("T"), Dim::Is(1)]));
    for (name, table) in architecture.tables(SAMPLE) {
        let (kind, shape) = match table {
            Table::Ints(_, shape) => (INT64, shape),
            Table::Floats(_, shape) => (FLOAT, shape),
        };
        let dims: Vec<Dim> = shape.iter().map(|&n| if n == SAMPLE { Dim::Any("T") } else { Dim::Is(n) }).collect();
        inputs.message(11, &value(name, kind, &dims));
    }
    let kept4 = graph.node("Transpose", &["kept"], |a| a.ints("perm", &[0, 2, 1]))?;
    let axis = graph.constant_ints(&[1])?;
    let kept4 = graph.node("Unsqueeze", &[&kept4, &axis], |_| {})?;
    let one = graph.constant(1.0)?;
    let dropped = graph.node("Sub", &[&one, &kept4], |_| {})?;
    let low = graph.constant(MASKED)?;
    let bias = graph.node("Mul", &[&dropped, &low], |_| {})?;
    graph.names.insert("bias".to_owned(), bias);

    let logits = architecture.logits(&mut graph)?;
    let logits = graph.node_named("Identity", &[&logits], "logits");

    let mut g = graph.nodes;
    g.text(2, "wardline");
    g.bytes.extend(graph.initializers.bytes);
    g.bytes.extend(inputs.bytes);
    g.message(12, &value(&logits, FLOAT, &[Dim::Any("B"), Dim::Any("labels")]));
    let mut operators = Message::default();
    operators.text(1, "");
    operators.int(2, OPERATORS);
    let mut model = Message::default();
    model.int(1, 9);
    model.message(7, &g);
    model.message(8, &operators);
    Ok(model.bytes)
}

const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// A protocol-buffer message under construction.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }

    fn int(&mut self, field: u64, n: i64) {
        self.varint(field << 3);
        self.varint(n as u64);
    }

    fn float(&mut self, field: u64, x: f32) {
        self.varint(field << 3 | 5);
        self.bytes.extend(x.to_le_bytes());
    }

    fn raw(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.raw(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.raw(field, &message.bytes);
    }

    /// An attribute of a node.
    fn attribute(&mut self, name: &str, kind: i64, value: impl FnOnce(&mut Self)) {
        let mut attribute = Self::default();
        attribute.text(1, name);
        value(&mut attribute);
        attribute.int(20, kind);
        self.message(5, &attribute);
    }

    fn attribute_int(&mut self, name: &str, n: i64) {
        self.attribute(name, 2, |a| a.int(3, n));
    }

    fn attribute_float(&mut self, name: &str, x: f32) {
        self.attribute(name, 1, |a| a.float(2, x));
    }

    fn ints(&mut self, name: &str, all: &[i64]) {
        self.attribute(name, 7, |a| all.iter().for_each(|n| a.int(8, *n)));
    }
}

enum Dim {
    Any(&'static str),
    Is(usize),
}

/// The type of an input or output.
fn value(name: &str, kind: i64, dims: &[Dim]) -> Message {
    let mut shape = Message::default();
    for dim in dims {
        let mut d = Message::default();
        match dim {
            Dim::Any(name) => d.text(2, name),
            Dim::Is(n) => d.int(1, *n as i64),
        }
        shape.message(1, &d);
    }
    let mut tensor = Message::default();
    tensor.int(1, kind);
    tensor.message(2, &shape);
    let mut of_type = Message::default();
    of_type.message(1, &tensor);
    let mut value = Message::default();
    value.text(1, name);
    value.message(2, &of_type);
    value
}

/// Operations as nodes of a graph; a tensor is the name of a value.
struct Graph {
    weights: Weights,
    /// Weights and their transposes that have been written, by what was asked for.
    names: HashMap<String, String>,
    nodes: Message,
    initializers: Message,
    count: usize,
}

type Name = Result<String, String>;

impl Graph {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: impl FnOnce(&mut Message)) -> Name {
        let output = self.fresh();
        self.write_node(operator, inputs, &output, attributes);
        Ok(output)
    }

    fn node_named(&mut self, operator: &str, inputs: &[&str], output: &str) -> String {
        self.write_node(operator, inputs, output, |_| {});
        output.to_owned()
    }

    fn write_node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: impl FnOnce(&mut Message)) {
        let mut node = Message::default();
        inputs.iter().for_each(|i| node.text(1, i));
        node.text(2, output);
        node.text(4, operator);
        attributes(&mut node);
        self.nodes.message(1, &node);
    }

    fn initializer(&mut self, name: &str, kind: i64, shape: &[usize], raw: &[u8]) {
        let mut tensor = Message::default();
        shape.iter().for_each(|&n| tensor.int(1, n as i64));
        tensor.int(2, kind);
        tensor.text(8, name);
        tensor.raw(9, raw);
        self.initializers.message(5, &tensor);
    }

    fn floats(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.initializer(name, FLOAT, shape, &raw);
    }

    fn constant(&mut self, x: f32) -> Name {
        let name = format!("c{x}");
        if self.names.insert(name.clone(), name.clone()).is_none() {
            self.floats(&name, &[], &[x]);
        }
        Ok(name)
    }

    /// Reshapes, where 0 keeps an axis and -1 takes what is left, and puts the heads before the tokens.
    fn split(&mut self, shape: [i64; 4], x: &str) -> Name {
        let shape = self.constant_ints(&shape)?;
        let x = self.node("Reshape", &[x, &shape], |_| {})?;
        self.node("Transpose", &[&x], |a| a.ints("perm", &[0, 2, 1, 3]))
    }

    fn constant_ints(&mut self, all: &[i64]) -> Name {
        let name = format!("i{all:?}");
        if self.names.insert(name.clone(), name.clone()).is_none() {
            let raw: Vec<u8> = all.iter().flat_map(|n| n.to_le_bytes()).collect();
            self.initializer(&name, INT64, &[all.len()], &raw);
        }
        Ok(name)
    }
}

impl Ops for Graph {
    type Tensor = String;

    /// Written as it is stored; [`Ops::linear`] asks for the transpose, which engines multiply by without a copy a run.
    fn weight(&mut self, name: &str, shape: &[usize]) -> Name {
        if !self.names.contains_key(name) {
            let numbers = self.weights.take(name, shape)?;
            if let [outputs, inputs] = *shape
                && is_linear(name)
            {
                let mut transposed = vec![0.0; numbers.len()];
                for (o, row) in numbers.chunks_exact(inputs).enumerate() {
                    for (i, x) in row.iter().enumerate() {
                        transposed[i * outputs + o] = *x;
                    }
                }
                self.floats(name, &[inputs, outputs], &transposed);
            } else {
                self.floats(name, shape, &numbers);
            }
            self.names.insert(name.to_owned(), name.to_owned());
        }
        Ok(name.to_owned())
    }

    fn ids(&mut self) -> Name {
        Ok("ids".to_owned())
    }

    fn kept(&mut self) -> Name {
        Ok("kept".to_owned())
    }

    fn table(&mut self, name: &'static str) -> Name {
        Ok(name.to_owned())
    }

    fn rows(&mut self, weight: &String, ids: &String) -> Name {
        self.node("Gather", &[weight, ids], |a| a.attribute_int("axis", 0))
    }

    fn linear(&mut self, x: &String, w: &String, b: Option<&String>) -> Name {
        let product = self.node("MatMul", &[x, w], |_| {})?;
        match b {
            Some(b) => self.node("Add", &[&product, b], |_| {}),
            None => Ok(product),
        }
    }

    fn matmul_t(&mut self, a: &String, b: &String) -> Name {
        let b = self.transpose(b)?;
        self.matmul(a, &b)
    }

    fn matmul(&mut self, a: &String, b: &String) -> Name {
        self.node("MatMul", &[a, b], |_| {})
    }

    fn add(&mut self, a: &String, b: &String) -> Name {
        self.node("Add", &[a, b], |_| {})
    }

    fn mul(&mut self, a: &String, b: &String) -> Name {
        self.node("Mul", &[a, b], |_| {})
    }

    fn scale(&mut self, a: &String, by: f32) -> Name {
        let by = self.constant(by)?;
        self.node("Mul", &[a, &by], |_| {})
    }

    fn layer_norm(&mut self, x: &String, w: &String, b: Option<&String>, eps: f32) -> Name {
        let mut inputs = vec![x.as_str(), w.as_str()];
        inputs.extend(b.map(String::as_str));
        self.node("LayerNormalization", &inputs, |a| {
            a.attribute_int("axis", -1);
            a.attribute_float("epsilon", eps);
        })
    }

    fn activate(&mut self, x: &String, activation: Activation) -> Name {
        match activation {
            Activation::Gelu => self.node("Gelu", &[x], |_| {}),
            Activation::GeluTanh => self.node("Gelu", &[x], |a| a.attribute("approximate", 3, |v| v.text(4, "tanh"))),
            Activation::Relu => self.node("Relu", &[x], |_| {}),
            Activation::Tanh => self.node("Tanh", &[x], |_| {}),
            Activation::Silu => {
                let gate = self.node("Sigmoid", &[x], |_| {})?;
                self.mul(x, &gate)
            }
        }
    }

    fn masked_softmax(&mut self, scores: &String) -> Name {
        let bias = self.names.get("bias").cloned().unwrap_or_default();
        let scores = self.add(scores, &bias)?;
        self.node("Softmax", &[&scores], |a| a.attribute_int("axis", -1))
    }

    fn split_heads(&mut self, x: &String, heads: usize, head_size: usize) -> Name {
        self.split([0, -1, heads as i64, head_size as i64], x)
    }

    fn split_table(&mut self, x: &String, heads: usize, head_size: usize) -> Name {
        self.split([1, -1, heads as i64, head_size as i64], x)
    }

    fn merge_heads(&mut self, x: &String, hidden: usize) -> Name {
        let x = self.node("Transpose", &[x], |a| a.ints("perm", &[0, 2, 1, 3]))?;
        let shape = self.constant_ints(&[0, 0, hidden as i64])?;
        self.node("Reshape", &[&x, &shape], |_| {})
    }

    fn slice_last(&mut self, x: &String, start: usize, length: usize) -> Name {
        let (from, to) = (self.constant_ints(&[start as i64])?, self.constant_ints(&[(start + length) as i64])?);
        let axis = self.constant_ints(&[-1])?;
        self.node("Slice", &[x, &from, &to, &axis], |_| {})
    }

    fn join_last(&mut self, a: &String, b: &String) -> Name {
        self.node("Concat", &[a, b], |x| x.attribute_int("axis", -1))
    }

    fn pick_last(&mut self, x: &String, index: &String) -> Name {
        let heads = self.node("Shape", &[x], |a| {
            a.attribute_int("start", 0);
            a.attribute_int("end", 2);
        })?;
        let square = self.node("Shape", &[index], |_| {})?;
        let shape = self.node("Concat", &[&heads, &square], |a| a.attribute_int("axis", 0))?;
        let index = self.node("Expand", &[index, &shape], |_| {})?;
        self.node("GatherElements", &[x, &index], |a| a.attribute_int("axis", -1))
    }

    fn transpose(&mut self, x: &String) -> Name {
        self.node("Transpose", &[x], |a| a.ints("perm", &[0, 1, 3, 2]))
    }

    fn first_token(&mut self, x: &String) -> Name {
        let first = self.constant_ints(&[0])?;
        let x = self.node("Gather", &[x, &first], |a| a.attribute_int("axis", 1))?;
        let axis = self.constant_ints(&[1])?;
        self.node("Squeeze", &[&x, &axis], |_| {})
    }

    fn mean_tokens(&mut self, x: &String) -> Name {
        let x = self.mul(x, &"kept".to_owned())?;
        let axis = self.constant_ints(&[1])?;
        let sum = self.node("ReduceSum", &[&x, &axis], |a| a.attribute_int("keepdims", 0))?;
        let count = self.node("ReduceSum", &["kept", &axis], |a| a.attribute_int("keepdims", 0))?;
        self.node("Div", &[&sum, &count], |_| {})
    }

    fn normalize(&mut self, x: &String) -> Name {
        self.node("LpNormalization", &[x], |a| {
            a.attribute_int("axis", -1);
            a.attribute_int("p", 2);
        })
    }
}

/// Whether a two-dimensional weight is that of a linear layer and no table of embeddings.
fn is_linear(name: &str) -> bool {
    !name.contains("embeddings.") || name.ends_with("embed_proj.weight")
}
