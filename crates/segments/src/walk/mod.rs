//! The walk over a message's structure. Ours, because a parser gives one reading and the extractor gives the union of readings:
//! mail-parser 0.11 takes the last of duplicate fields, cuts at a mid-line delimiter without a flag, loses the body of a message
//! that has no header block or has bare CR line ends, stops at the fourth base64-nested message, and overflows a 2 MiB stack on
//! 100,000 nested messages. Its field parsers are used for content types and address lists.

mod attachment;
mod body;
mod boundary;
mod collect;
mod entity;
mod header;
mod leaf;
mod media;
mod names;
mod parsed;

pub(crate) use attachment::is_file;
pub(crate) use collect::{Collector, Mode};
pub(crate) use entity::{Place, message};
pub(crate) use parsed::parsed_fields;
