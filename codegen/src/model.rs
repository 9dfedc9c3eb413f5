//! What a schema says, in the words of our own: no JSON and no tokens.

/// One generation of the protocol.
#[derive(Debug)]
pub(crate) struct Model {
    /// The name of the revision, such as `2026-07-28`.
    pub(crate) generation: String,
    /// The Rust module, such as `v2026_07_28`.
    pub(crate) module: String,
    /// The schema files in order.
    pub(crate) files: Vec<File>,
}

impl Model {
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.files.iter().flat_map(|file| &file.items)
    }
}

/// The definitions of one schema file.
#[derive(Debug)]
pub(crate) struct File {
    /// The file's name without its extension, which is the Rust submodule.
    pub(crate) stem: String,
    /// The path for the generated header.
    pub(crate) path: String,
    pub(crate) docs: String,
    pub(crate) items: Vec<Item>,
}

/// One definition.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) schema_name: String,
    pub(crate) rust_name: String,
    pub(crate) docs: String,
    pub(crate) details: Details,
    pub(crate) kind: ItemKind,
}

/// What a schema says of a plain value that no type enforces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    /// The JSON type, where it is one.
    pub(crate) json_type: Option<String>,
    pub(crate) format: Option<String>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    Object(Object),
    State(State),
    Union(Union),
    /// A string out of a fixed list.
    StringEnum(Vec<Variant>),
    /// A name for a plain type.
    Newtype(TypeRef),
    ErrorCodes(Vec<ErrorCode>),
    /// A type that is not made here: written by hand or of a revision, as a path from the types crate's root.
    Replaced(String),
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) value: String,
    /// The Rust variant.
    pub(crate) name: String,
    pub(crate) docs: String,
}

/// A wire object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) parts: Vec<Part>,
    /// Optional members of which one has to be present.
    pub(crate) at_least_one: Vec<String>,
    /// The method of a request or notification.
    pub(crate) method: Option<Method>,
    /// Who sends it, as `x-mcp-direction` says.
    pub(crate) direction: Option<String>,
    /// The identifier of the extension whose settings the object is.
    pub(crate) extension: Option<String>,
}

impl Object {
    /// Its members, without constants and those of its state.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.parts.iter().filter_map(|part| match part {
            Part::Member(member) => Some(member),
            Part::Constant(_) | Part::State(_) => None,
        })
    }
}

/// The method that an object is a message of.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    /// The definition of a request's result; a notification has none.
    pub(crate) result: Option<String>,
    /// The member of the parameters that a request is routed by.
    pub(crate) routed_by: Option<String>,
}

/// A part of an object, in the order in which it is written.
#[derive(Debug)]
pub(crate) enum Part {
    Constant(Constant),
    Member(Member),
    /// The members that a state decides, by the schema name of the state.
    State(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) value: ConstantValue,
    /// Whether a reader takes absence for the constant.
    pub(crate) absent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConstantValue {
    Text(String),
    Integer(i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The Rust field.
    pub(crate) field: String,
    pub(crate) docs: String,
    pub(crate) presence: Presence,
    pub(crate) shape: TypeRef,
    pub(crate) details: Details,
    /// Whether its name is a key of the protocol's own in a `_meta` object.
    pub(crate) meta_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// Required, but may be null.
    Nullable,
    Optional,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeRef {
    /// A definition, by its schema name.
    Named(String),
    Text,
    /// An integer that is not negative.
    Unsigned,
    /// Milliseconds that are not negative; a reader rounds a fraction up.
    Millis,
    Integer,
    Number,
    Boolean,
    List(Box<Self>),
    /// An object whose member names are data.
    Map(Box<Self>),
}

/// A part of an object whose members depend on a constant.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) tag: String,
    pub(crate) arms: Vec<StateArm>,
}

#[derive(Debug)]
pub(crate) struct StateArm {
    pub(crate) value: String,
    /// The Rust variant.
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) enum Union {
    /// Told apart by the kind of JSON value.
    Kind(Vec<KindArm>),
    /// Told apart by a constant member.
    Tag { tag: String, arms: Vec<TagArm> },
    /// Told apart by the members present.
    Member(Vec<MemberArm>),
}

#[derive(Debug)]
pub(crate) struct KindArm {
    pub(crate) variant: String,
    pub(crate) shape: TypeRef,
}

#[derive(Debug)]
pub(crate) struct TagArm {
    pub(crate) variant: String,
    pub(crate) value: String,
    pub(crate) target: String,
}

#[derive(Debug)]
pub(crate) struct MemberArm {
    pub(crate) variant: String,
    pub(crate) target: String,
    pub(crate) condition: Condition,
}

/// When an arm is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Whatever is left.
    Always,
    /// A member is present; `a/b` looks one level down.
    Has(String),
    /// An optional member is present and not null, which would stand for its absence; `a/b` as before.
    Holds(String),
    /// A member is one of these strings.
    Is {
        name: String,
        values: Vec<String>,
    },
    All(Vec<Self>),
    Any(Vec<Self>),
}

#[derive(Debug)]
pub(crate) struct ErrorCode {
    pub(crate) code: i64,
    pub(crate) variant: String,
    pub(crate) docs: String,
    /// The definition of its `data`.
    pub(crate) data: Option<String>,
    pub(crate) http_status: Option<u16>,
}
