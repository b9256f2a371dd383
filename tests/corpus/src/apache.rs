//! Where Apache's compiler (0.17) or its Python (0.25) sees a schema in another way than we do. The reason stands in each file.

/// Right schemas that its compiler refuses.
pub const REFUSED: [&str; 10] = [
    "constants_forward",
    "constants_nested",
    "constants_of_enums_by_name",
    "constants_of_structs_by_name",
    "includes_twice",
    "keys_of_uuids",
    "keywords_fields_of_others",
    "keywords_fields_of_thrift",
    "old_words",
    "separators_doubled",
];

/// Wrong schemas that its compiler takes.
pub const ACCEPTED: [&str; 9] = [
    "default_out_of_range",
    "field_id_too_large",
    "field_id_zero",
    "negative_without_reason",
    "not_utf8",
    "type_too_deep",
    "type_without_end",
    "union_constant_of_two",
    "xsd_words",
];

/// Right schemas that its compiler takes, but makes Python of that can not be loaded, or that writes other bytes.
pub const NOT_IN_PYTHON: [&str; 4] =
    ["constants_of_integers_as_doubles", "doubles_tiny", "keys_of_unions", "underscores"];

/// Wrong schemas on which its compiler does not end, so that it is not asked.
pub const ENDLESS: [&str; 1] = ["comment_never_closed"];
