//! Types that 2025-11-25 and 2026-07-28 define alike: total both ways, member by member, without a copy of any text.
//!
//! Each source is taken apart completely, so that a member that a generation gains stops the build here.

use crate::{Extra, Map, Number, RawJson, RawObject, TaskId, sep_1686, v2025_11_25, v2026_07_28};

/// Moves a value into its form of another generation.
pub(super) trait Carry<T> {
    fn carry(self) -> T;
}

macro_rules! unchanged {
    ($($type:ty)*) => {$(
        impl Carry<$type> for $type {
            #[inline]
            fn carry(self) -> $type {
                self
            }
        }
    )*};
}

unchanged! { bool u64 i64 String Number TaskId Extra RawJson RawObject }

impl<S: Carry<T>, T> Carry<Option<T>> for Option<S> {
    #[inline]
    fn carry(self) -> Option<T> {
        self.map(Carry::carry)
    }
}

impl<S: Carry<T>, T> Carry<Vec<T>> for Vec<S> {
    #[inline]
    fn carry(self) -> Vec<T> {
        self.into_iter().map(Carry::carry).collect()
    }
}

impl<S: Carry<T>, T> Carry<Map<T>> for Map<S> {
    #[inline]
    fn carry(self) -> Map<T> {
        self.map(Carry::carry)
    }
}

macro_rules! one_way {
    ($from:ident $to:ident $name:ident { $($member:tt)* }) => {
        impl From<$from::$name> for $to::$name {
            #[inline]
            fn from(value: $from::$name) -> Self {
                one_way!(@value value $from $name { $($member)* })
            }
        }

        impl Carry<$to::$name> for $from::$name {
            #[inline]
            fn carry(self) -> $to::$name {
                self.into()
            }
        }
    };
    (@value $value:ident $from:ident $name:ident { struct $($field:ident)* }) => {{
        let $from::$name { $($field),* } = $value;
        Self { $($field: $field.carry()),* }
    }};
    (@value $value:ident $from:ident $name:ident { arms $($arm:ident)* }) => {
        match $value { $($from::$name::$arm(value) => Self::$arm(value.carry())),* }
    };
    (@value $value:ident $from:ident $name:ident { words $($word:ident)* }) => {
        match $value { $($from::$name::$word => Self::$word),* }
    };
    (@value $value:ident $from:ident $name:ident { newtype }) => {
        Self($value.0.carry())
    };
}

macro_rules! same {
    ($a:ident $b:ident: $($name:ident $shape:tt)*) => {$(
        one_way!($a $b $name $shape);
        one_way!($b $a $name $shape);
    )*};
}

same! { v2025_11_25 v2026_07_28:
    RequestId { arms String Integer }
    ProgressToken { arms String Integer }
    ErrorObject { struct code message data extra }
    MetaObject { struct extra }
    Icon { struct src mime_type sizes theme extra }
    IconTheme { words Light Dark }
    Implementation { struct name version title description website_url icons extra }

    ContentBlock { arms Text Image Audio ResourceLink Resource }
    TextContent { struct text annotations meta extra }
    ImageContent { struct data mime_type annotations meta extra }
    AudioContent { struct data mime_type annotations meta extra }
    ResourceLink { struct uri name title description mime_type size icons annotations meta extra }
    EmbeddedResource { struct resource annotations meta extra }
    ResourceContents { arms Text Blob }
    TextResourceContents { struct uri mime_type text meta extra }
    BlobResourceContents { struct uri mime_type blob meta extra }
    Annotations { struct audience priority last_modified extra }
    Role { words User Assistant }

    ElicitationFormMode { words Form }
    ElicitFormSchema { struct schema properties required extra }
    ElicitFormProperties { newtype }
    PrimitiveSchemaDefinition { arms Number Boolean Enum String }
    StringSchema { struct title description min_length max_length format default extra }
    StringFormat { words Email Uri Date DateTime }
    NumberSchema { struct kind title description minimum maximum default extra }
    NumberKind { words Number Integer }
    BooleanSchema { struct title description default extra }
    EnumSchema { arms Legacy SingleSelect MultiSelect }
    SingleSelectEnumSchema { arms Untitled Titled }
    MultiSelectEnumSchema { arms Untitled Titled }
    UntitledSingleSelectEnumSchema { struct title description values default extra }
    TitledSingleSelectEnumSchema { struct title description options default extra }
    UntitledMultiSelectEnumSchema { struct title description min_items max_items items default extra }
    UntitledMultiSelectItems { struct values extra }
    TitledMultiSelectEnumSchema { struct title description min_items max_items items default extra }
    TitledMultiSelectItems { struct options extra }
    LegacyTitledEnumSchema { struct title description values enum_names default extra }
    EnumOption { struct value title extra }
    EnumSelection { newtype }
    ElicitAction { words Accept Decline Cancel }
    ElicitContent { newtype }
    ElicitValue { arms String Number Boolean Strings }

    IncludeContext { words None ThisServer AllServers }
    ModelPreferences { struct hints cost_priority speed_priority intelligence_priority extra }
    ModelHint { struct name extra }
    ToolChoice { struct mode extra }
    ToolChoiceMode { words Auto Required None }
    ToolUseContent { struct id name input meta extra }
    ToolAnnotations {
        struct title read_only_hint destructive_hint idempotent_hint open_world_hint extra
    }
    Root { struct uri name meta extra }

    LoggingLevel { words Debug Info Notice Warning Error Critical Alert Emergency }
    ElicitationCapability { struct form url extra }
    SamplingCapability { struct context tools extra }
    ToolsCapability { struct list_changed extra }
    PromptsCapability { struct list_changed extra }
    ResourcesCapability { struct subscribe list_changed extra }
    ExperimentalCapabilities { newtype }
}

same! { sep_1686 v2025_11_25:
    RequestId { arms String Integer }
    ProgressToken { arms String Integer }
    ErrorObject { struct code message data extra }
    RelatedTaskMetadata { struct task_id extra }
    CapabilityMark { arms Settings Boolean }
    CapabilitySettings { struct extra }
    ToolsTasksCapability { struct call extra }
    SamplingTasksCapability { struct create_message extra }
    ElicitationTasksCapability { struct create extra }
}

same! { sep_1686 v2026_07_28:
    RequestId { arms String Integer }
    ProgressToken { arms String Integer }
    ErrorObject { struct code message data extra }
}
